import { expect, test } from 'vitest';
import { bestSoFar } from './best_so_far';

test('the best so far never gets worse', () => {
  expect(bestSoFar([[1, 3], [2, 5], [4, 2]])).toEqual([[1, 3], [2, 3], [4, 2]]);
});
