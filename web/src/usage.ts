// The usage of tenants, from GET /v1/usage: CSV whose names need no quotes.
export interface DayOfUse {
  day: string;
  tenant: string;
  deviceSeconds: number;
  storedBytes: number;
}

export function usageOf(csv: string): DayOfUse[] {
  return csv
    .split('\r\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const [day = '', tenant = '', deviceSeconds = '', storedBytes = ''] = line.split(',');
      return { day, tenant, deviceSeconds: Number(deviceSeconds), storedBytes: Number(storedBytes) };
    });
}

// "2026-11-29", `days` days before `now`.
export function dayBefore(days: number, now: Date): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}
