// Numbers as people read them, with units.

const LOCALE = 'en';
const DAY_S = 86_400;
const HOUR_S = 3600;
const MINUTE_S = 60;

function digits(value: number): string {
  const magnitude = Math.abs(value);
  const places = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2;
  return value.toLocaleString(LOCALE, { minimumFractionDigits: places, maximumFractionDigits: places });
}

// "1.84 ms", "312 µs"; "–" if it is not known.
export function latency(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !(ms > 0)) return '–';
  if (ms < 1e-3) return `${digits(ms * 1e6)} ns`;
  if (ms < 1) return `${digits(ms * 1e3)} µs`;
  return ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1e3)} s`;
}

function joined(whole: string, rest: number, unit: string): string {
  return rest === 0 ? whole : `${whole} ${rest} ${unit}`;
}

// "1 h 12 min", "3.2 s".
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !(seconds >= 0)) return '–';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return joined(`${Math.floor(whole / MINUTE_S)} min`, whole % MINUTE_S, 's');
  if (whole < DAY_S) return joined(`${Math.floor(whole / HOUR_S)} h`, Math.round((whole % HOUR_S) / MINUTE_S), 'min');
  return joined(`${Math.floor(whole / DAY_S)} d`, Math.round((whole % DAY_S) / HOUR_S), 'h');
}

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${unit === 0 ? String(value) : digits(value)} ${units[unit] ?? ''}`;
}

export function count(value: number): string {
  return value.toLocaleString(LOCALE);
}

// "1.84×": how many times as fast.
export function factor(value: number | null): string {
  return value === null || !Number.isFinite(value) || value <= 0 ? '–' : `${digits(value)}×`;
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return '–';
  return `${(share * 100).toLocaleString(LOCALE, { maximumFractionDigits: share < 0.1 ? 1 : 0 })} %`;
}

export function gflops(value: number): string {
  return value >= 1000 ? `${digits(value / 1000)} TFLOP/s` : `${digits(value)} GFLOP/s`;
}

// "12:03:10", with the day where it is not today.
export function moment(time: string, now: Date = new Date()): string {
  const date = new Date(time);
  const isToday = date.toDateString() === now.toDateString();
  return date.toLocaleString(LOCALE, isToday ? { timeStyle: 'medium', hour12: false } : { dateStyle: 'medium', timeStyle: 'short', hour12: false });
}

// "2 min ago".
export function ago(time: string, now: Date = new Date()): string {
  const seconds = Math.max(0, (now.getTime() - new Date(time).getTime()) / 1000);
  if (seconds < 5) return 'just now';
  if (seconds < MINUTE_S) return `${Math.floor(seconds)} s ago`;
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ago`;
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)} h ago`;
  return `${Math.floor(seconds / DAY_S)} d ago`;
}

export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}
