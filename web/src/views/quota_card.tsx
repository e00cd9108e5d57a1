// The quota and the use of a tenant; an admin sets the quota.
import { useState } from 'preact/hooks';
import { api, body, may, type Schemas } from '../api/client';
import { bytes, count, duration, percent } from '../format';
import { useAction } from '../ui/action';
import { NumberField } from '../ui/fields';
import { Card, ErrorNote, Meter, WideTable } from '../ui/parts';

type Tenant = Schemas['TenantDetail'];
type Quota = Schemas['Quota'];
const NEARLY_ALL = 0.9;
const MOST = 2 ** 52;
const GIGA = 1e9;
const HOUR_S = 3600;

function Use({ tenant }: { tenant: Tenant }) {
  const { quota, used } = tenant;
  const rows: { name: string; used: number; most: number; show: (value: number) => string }[] = [
    { name: 'Stored', used: used.stored_bytes, most: quota.stored_bytes, show: bytes },
    { name: 'Unfinished jobs', used: used.jobs, most: quota.jobs, show: count },
    { name: `Device time in ${quota.period_days} days`, used: used.device_seconds, most: quota.device_seconds, show: duration },
  ];
  return (
    <WideTable label="Quota">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col" class="number">Used</th>
          <th scope="col" class="number">At most</th>
          <th scope="col" class="number">Share</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const share = row.most > 0 ? row.used / row.most : 1;
          return (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              <td class="number">{row.show(row.used)}</td>
              <td class="number">{row.show(row.most)}</td>
              <td class="number">
                {percent(share)}
                <Meter share={share} tone={share > NEARLY_ALL ? 'bad' : 'accent'} />
              </td>
            </tr>
          );
        })}
        <tr>
          <th scope="row">Requests a second</th>
          <td class="number">–</td>
          <td class="number">{count(quota.requests_per_second)}</td>
          <td class="number">–</td>
        </tr>
      </tbody>
    </WideTable>
  );
}

interface QuotaTexts {
  gigabytes: string;
  jobs: string;
  hours: string;
  days: string;
  requests: string;
}
// Six digits are read well; unchanged values are sent as they were.
const short = (value: number): string => String(Number(value.toPrecision(6)));
function textsOf(quota: Quota): QuotaTexts {
  return {
    gigabytes: short(quota.stored_bytes / GIGA),
    jobs: String(quota.jobs),
    hours: short(quota.device_seconds / HOUR_S),
    days: String(quota.period_days),
    requests: String(quota.requests_per_second),
  };
}
function quotaOf(texts: QuotaTexts, before: Quota): Quota {
  const old = textsOf(before);
  return {
    stored_bytes: texts.gigabytes === old.gigabytes ? before.stored_bytes : Math.round(Number(texts.gigabytes) * GIGA),
    jobs: Number(texts.jobs),
    device_seconds: texts.hours === old.hours ? before.device_seconds : Math.round(Number(texts.hours) * HOUR_S),
    period_days: Number(texts.days),
    requests_per_second: Number(texts.requests),
  };
}

function Change({ tenant, onSet }: { tenant: Tenant; onSet: () => void }) {
  const [texts, setTexts] = useState(() => textsOf(tenant.quota));
  const { error, isBusy, run } = useAction();
  const change = (next: Partial<QuotaTexts>): void => setTexts((old) => ({ ...old, ...next }));
  const set = (event: Event): void => {
    event.preventDefault();
    const quota = quotaOf(texts, tenant.quota);
    run(() => body(api.PUT('/v1/tenants/{tenant}/quota', { params: { path: { tenant: tenant.name } }, body: quota })), 'The quota is saved', onSet);
  };
  return (
    <details>
      <summary>Change it</summary>
      <form class="stack form-below" onSubmit={set}>
        <div class="fields">
          <NumberField id="quota-bytes" label="Stored, GB" min={0} max={MOST / GIGA} step="any" isRequired value={texts.gigabytes} set={(gigabytes) => change({ gigabytes })} />
          <NumberField id="quota-jobs" label="Unfinished jobs" min={0} max={MOST} isRequired value={texts.jobs} set={(jobs) => change({ jobs })} />
          <NumberField id="quota-hours" label="Device time, hours" min={0} max={MOST / HOUR_S} step="any" isRequired value={texts.hours} set={(hours) => change({ hours })} />
          <NumberField id="quota-days" label="Period, days" min={1} max={366} isRequired value={texts.days} set={(days) => change({ days })} />
          <NumberField id="quota-requests" label="Requests a second" min={1} max={1_000_000} isRequired value={texts.requests} set={(requests) => change({ requests })} />
        </div>
        <ErrorNote text={error} />
        <div class="actions">
          <button class="button button-main" type="submit" disabled={isBusy}>
            Set the quota
          </button>
        </div>
      </form>
    </details>
  );
}

export function QuotaCard({ tenant, onSet }: { tenant: Tenant; onSet: () => void }) {
  return (
    <Card title="Quota" hint={may('admin') ? 'Requests beyond it are refused until there is room again.' : 'Requests beyond it are refused; an admin sets it.'}>
      <Use tenant={tenant} />
      {may('admin') && <Change key={JSON.stringify(tenant.quota)} tenant={tenant} onSet={onSet} />}
    </Card>
  );
}
