import { expect, test } from 'vitest';
import { match } from './router';

test('paths are matched part by part', () => {
  expect(match('/', '/')).toEqual({});
  expect(match('/jobs/:id', '/jobs/net-1')).toEqual({ id: 'net-1' });
  expect(match('/jobs/:id', '/jobs/a%2Fb/')).toEqual({ id: 'a/b' });
  for (const path of ['/', '/jobs', '/jobs/a/b', '/devices/a', '/jobs/%']) expect(match('/jobs/:id', path)).toBeNull();
});
