import { expect, test } from 'vitest';
import { makeTurns } from './turns';

test('no more than the limit run at a time, and a failure ends no other turn', async () => {
  const take = makeTurns(2);
  let running = 0;
  let most = 0;
  const done: number[] = [];
  const results = await Promise.allSettled(
    Array.from({ length: 7 }, (_, i) =>
      take(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        --running;
        if (i === 3) throw new Error('it fails');
        done.push(i);
      }),
    ),
  );
  expect(most).toBe(2);
  expect(done).toEqual([0, 1, 2, 4, 5, 6]);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
});
