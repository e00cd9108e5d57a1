// The agreement of a job, in the form's and in the server's terms.
import type { Schemas } from './api/client';
import { bytes, duration, latency, percent } from './format';

type Agreement = Schemas['Agreement'];
export type PromiseOfJob = Schemas['Promise'];

const MEGA = 1e6;
const PERCENT = 100;
const MINUTE_S = 60;

// Texts of number fields; empty: not asked for.
export interface AgreementWish {
  meanMs: string;
  p99Ms: string;
  lossPercent: string;
  megabytes: string;
  deadlineMinutes: string;
  deviceMinutes: string;
  priority: string;
  leastPercent: string;
}
export const NO_WISH: AgreementWish = { meanMs: '', p99Ms: '', lossPercent: '', megabytes: '', deadlineMinutes: '', deviceMinutes: '', priority: '', leastPercent: '' };

// Null if nothing is asked for.
export function agreementOf(wish: AgreementWish): Agreement | null {
  const given = (text: string, scale = 1): number | null => (text === '' ? null : Number(text) * scale);
  const agreement: Record<string, unknown> = {};
  const set = (name: string, value: number | null): void => {
    if (value !== null) agreement[name] = value;
  };
  const mean = given(wish.meanMs);
  const p99 = given(wish.p99Ms);
  if (mean !== null || p99 !== null) agreement['latency_ms'] = { ...(mean === null ? {} : { mean }), ...(p99 === null ? {} : { p99 }) };
  set('accuracy_loss', given(wish.lossPercent, 1 / PERCENT));
  set('size_bytes', given(wish.megabytes, MEGA));
  set('deadline_seconds', given(wish.deadlineMinutes, MINUTE_S));
  set('device_seconds', given(wish.deviceMinutes, MINUTE_S));
  set('least_probability', given(wish.leastPercent, 1 / PERCENT));
  if (wish.priority !== '') agreement['priority'] = wish.priority;
  return Object.keys(agreement).length === 0 ? null : agreement;
}

export type Offer = Schemas['Prediction']['offers'][number];

// Few digits, and no less than the value.
function roundedUp(value: number): string {
  const digits = 3;
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits);
  return String(Number((Math.ceil(value / unit) * unit).toPrecision(digits + 1)));
}

// The wish with the limits that the server offers in the place of those that are not likely.
export function withOffers(wish: AgreementWish, offers: readonly Offer[]): AgreementWish {
  const fields: Record<string, [keyof AgreementWish, number]> = {
    latency_mean: ['meanMs', 1],
    latency_p99: ['p99Ms', 1],
    accuracy_loss: ['lossPercent', PERCENT],
    size_bytes: ['megabytes', 1 / MEGA],
    deadline_seconds: ['deadlineMinutes', 1 / MINUTE_S],
    device_seconds: ['deviceMinutes', 1 / MINUTE_S],
  };
  const next = { ...wish };
  for (const { name, limit } of offers) {
    const field = fields[name];
    if (field !== undefined && limit > 0) next[field[0]] = roundedUp(limit * field[1]);
  }
  return next;
}

interface Quantity {
  name: string;
  show: (value: number) => string;
}
const QUANTITIES: Record<string, Quantity> = {
  latency_mean: { name: 'Mean latency', show: latency },
  latency_p99: { name: '99 % of latencies', show: latency },
  accuracy_loss: { name: 'Loss of accuracy', show: percent },
  size_bytes: { name: 'Size', show: bytes },
  deadline_seconds: { name: 'Done within', show: duration },
  device_seconds: { name: 'Device time', show: duration },
};

// The server's sentence about an agreement, with our names in the place of the interface's.
export function sentenceOfAgreement(sentence: string): string {
  return Object.entries(QUANTITIES).reduce((text, [name, quantity]) => text.replaceAll(`${name}:`, `${quantity.name}:`), sentence.replace(/^\/agreement: /, ''));
}

// A promise's quantity with its name and unit.
export function quantityOf(name: string): Quantity {
  return QUANTITIES[name] ?? { name: name.replaceAll('_', ' '), show: (value) => String(value) };
}

// "3.10 ms (2.80 ms to 3.60 ms)".
export function rangeText({ name, low, median, high }: Pick<PromiseOfJob, 'name' | 'low' | 'median' | 'high'>): string {
  const { show } = quantityOf(name);
  if (!(median > 0) && !(low > 0)) return '–';
  return high === low ? show(median) : `${show(median)} (${show(low)} to ${high === null ? 'unknown' : show(high)})`;
}
