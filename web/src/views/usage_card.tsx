// The tenant's usage by day; an admin sees that of all.
import { useState } from 'preact/hooks';
import { api, may } from '../api/client';
import { LineChart } from '../charts/line_chart';
import { bytes, duration } from '../format';
import { useLoaded } from '../ui/loading';
import { Card, Empty, ErrorNote, Loading, WideTable } from '../ui/parts';
import { dayBefore, usageOf, type DayOfUse } from '../usage';

const USUAL_DAYS = 30;

interface Days {
  from: string;
  to: string;
}

async function readUsage(query: Days & { tenant: string }): Promise<DayOfUse[]> {
  const { data } = await api.GET('/v1/usage', { params: { query }, parseAs: 'text' });
  return usageOf(data ?? '');
}

function Table({ days }: { days: readonly DayOfUse[] }) {
  return (
    <WideTable label="Usage by day">
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" class="number">Device time</th>
          <th scope="col" class="number">Stored</th>
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map((day) => (
          <tr key={day.day}>
            <th scope="row">{day.day}</th>
            <td class="number">{duration(day.deviceSeconds)}</td>
            <td class="number">{bytes(day.storedBytes)}</td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

function Day({ id, label, value, set }: { id: string; label: string; value: string; set: (day: string) => void }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="date" required value={value} onInput={(event) => event.currentTarget.value !== '' && set(event.currentTarget.value)} />
    </div>
  );
}

export function UsageCard({ tenant }: { tenant: string }) {
  const [days, setDays] = useState<Days>(() => ({ from: dayBefore(USUAL_DAYS, new Date()), to: dayBefore(0, new Date()) }));
  const { value, error } = useLoaded(() => readUsage({ ...days, tenant }), [tenant, days.from, days.to]);
  const address = (only: Record<string, string>): string => `/v1/usage?${new URLSearchParams({ ...days, ...only }).toString()}`;
  const total = (value ?? []).reduce((sum, day) => sum + day.deviceSeconds, 0);
  return (
    <Card
      title="Usage"
      hint="Device time and stored bytes by day, in UTC."
      actions={
        <div class="actions">
          <a class="button" href={address({ tenant })} download={`usage-${tenant}.csv`}>
            Download as CSV
          </a>
          {may('admin') && (
            <a class="button" href={address({})} download="usage.csv">
              All tenants as CSV
            </a>
          )}
        </div>
      }
    >
      <div class="stack">
        <div class="fields">
          <Day id="usage-from" label="From" value={days.from} set={(from) => setDays({ ...days, from })} />
          <Day id="usage-to" label="To" value={days.to} set={(to) => setDays({ ...days, to })} />
        </div>
        <ErrorNote text={error} />
        {value === null && error === null && <Loading of="usage" />}
        {value?.length === 0 && <Empty title="No usage in these days">Jobs and uploads count from their first day on.</Empty>}
        {value !== null && value.length > 1 && (
          <LineChart
            label={`Device time by day over ${value.length} days, ${duration(total)} in all. The table has each day.`}
            curves={[{ label: 'device time', color: '--accent', points: value.map((day) => [Date.parse(day.day), day.deviceSeconds] as const), kind: 'steps' }]}
            x={(time) => new Date(time).toISOString().slice(0, 10)}
            y={duration}
            fromZero
            height={180}
          />
        )}
        {value !== null && value.length > 0 && <Table days={value} />}
      </div>
    </Card>
  );
}
