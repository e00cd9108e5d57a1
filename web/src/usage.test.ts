import { expect, test } from 'vitest';
import { dayBefore, usageOf } from './usage';

test('usage is read from CSV', () => {
  expect(usageOf('day,tenant,device_seconds,stored_bytes\r\n')).toEqual([]);
  expect(usageOf('day,tenant,device_seconds,stored_bytes\r\n2026-11-29,lab,1.5,200\r\n')).toEqual([{ day: '2026-11-29', tenant: 'lab', deviceSeconds: 1.5, storedBytes: 200 }]);
});
test('days before are those of UTC, as the server counts them', () => {
  expect(dayBefore(1, new Date('2026-03-01T00:30:00Z'))).toBe('2026-02-28');
});
