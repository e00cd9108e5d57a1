// The data that a tenant shares with others. Only its own operators may change this.
import { useState } from 'preact/hooks';
import { api, body, session, type Schemas } from '../api/client';
import { useAction } from '../ui/action';
import { useLoaded } from '../ui/loading';
import { Card, ErrorNote } from '../ui/parts';

type Tenant = Schemas['TenantDetail'];
type Consent = Schemas['Consent'];
const SHARED: readonly { name: keyof Consent; label: string; means: string }[] = [
  {
    name: 'answers',
    label: 'Known answers',
    means: 'when others tune a network that you have tuned, now or earlier, their jobs start with your measurements of its kernels, and their predictions use your results; they get no model and no artifact',
  },
  { name: 'cost_model', label: 'Cost model', means: 'the shared cost model learns from your measurements' },
];

export function ConsentCard({ tenant, onSet }: { tenant: Tenant; onSet: () => void }) {
  const { error, isBusy, run } = useAction();
  // Shown before the server has answered, and forgotten if it refuses.
  const [asked, setAsked] = useState(tenant.consent);
  const shown = error === null ? asked : tenant.consent;
  const learning = useLoaded(() => body(api.GET('/v1/cost-models', { params: { query: { most: 1 } } })), []);
  // A server that learns no cost model has nothing to ask.
  const asks = (name: keyof Consent): boolean => name !== 'cost_model' || shown.cost_model || learning.value?.learns === true;
  const isOwn = tenant.name === session.value?.tenant;
  const set = (name: keyof Consent, on: boolean): void => {
    const consent = { ...shown, [name]: on };
    setAsked(consent);
    run(() => body(api.PUT('/v1/tenants/{tenant}/consent', { params: { path: { tenant: tenant.name } }, body: consent })), 'Your consent is saved', onSet);
  };
  return (
    <Card title="Consent" hint={isOwn ? 'Nothing is shared unless you allow it here, and only while you do. Others keep the data that they were given before.' : 'Only the tenant’s own operators can change this.'}>
      <ErrorNote text={error} />
      <ul class="stack">
        {SHARED.filter(({ name }) => asks(name)).map(({ name, label, means }) => (
          <li key={name} class="check">
            <input id={`consent-${name}`} type="checkbox" checked={shown[name]} disabled={!isOwn || isBusy} aria-describedby={`consent-${name}-hint`} onChange={(event) => set(name, event.currentTarget.checked)} />
            <label for={`consent-${name}`}>{label}</label>
            <p class="hint" id={`consent-${name}-hint`}>
              {means}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}
