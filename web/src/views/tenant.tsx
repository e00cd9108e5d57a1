// A tenant: what it may use and has used, what it shares, all that it has; and for an admin, all tenants.
import { useState } from 'preact/hooks';
import { api, body, may, session, type Schemas } from '../api/client';
import { navigate, query } from '../router';
import { useAction } from '../ui/action';
import { ConfirmButton } from '../ui/confirm_button';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, Moment, ViewHead, WideTable } from '../ui/parts';
import { ConsentCard } from './consent_card';
import { QuotaCard } from './quota_card';
import { TrustCard } from './trust_card';
import { UsageCard } from './usage_card';

type Tenant = Schemas['Tenant'];

function ArchiveCard({ tenant }: { tenant: string }) {
  return (
    <Card
      title="Archive"
      hint="Models, jobs, their files, records and the audit log in one tar file, without secrets."
      actions={
        <a class="button" href={`/v1/tenants/${encodeURIComponent(tenant)}/archive`} download={`${tenant}.tar`}>
          Download the archive
        </a>
      }
    >
      {null}
    </Card>
  );
}

function Row({ tenant, onChanged }: { tenant: Tenant; onChanged: () => void }) {
  const { error, run } = useAction();
  const remove = (): void => run(() => api.DELETE('/v1/tenants/{tenant}', { params: { path: { tenant: tenant.name } } }), `${tenant.name} is being deleted`, onChanged);
  return (
    <tr>
      <th scope="row">
        <a href={`/tenant?name=${encodeURIComponent(tenant.name)}`}>{tenant.name}</a>
        <ErrorNote text={error} />
      </th>
      <td>
        <Badge state={tenant.state} />
      </td>
      <td>
        <Moment time={tenant.created} />
      </td>
      <td class="number">{tenant.name !== session.value?.tenant && tenant.state === 'active' && <ConfirmButton name="Delete" of={tenant.name} act={remove} />}</td>
    </tr>
  );
}

function NewTenant({ onMade }: { onMade: () => void }) {
  const [name, setName] = useState('');
  const { error, isBusy, run } = useAction();
  const make = (event: Event): void => {
    event.preventDefault();
    run(() => body(api.POST('/v1/tenants', { body: { name } })), `${name} is created`, () => {
      setName('');
      onMade();
    });
  };
  return (
    <form class="stack form-below" onSubmit={make}>
      <div class="fields">
        <div class="field">
          <label for="tenant-name">Name of a new tenant</label>
          <input id="tenant-name" required maxLength={64} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </div>
      </div>
      <ErrorNote text={error} />
      <div class="actions">
        <button class="button" type="submit" disabled={isBusy}>
          Make a tenant
        </button>
      </div>
    </form>
  );
}

function TenantsCard() {
  const { value, error, reload } = useLoaded(() => body(api.GET('/v1/tenants')), [], 10);
  return (
    <Card title="All tenants" hint="Deleted tenants are listed until nothing of them is left.">
      <ErrorNote text={error} />
      {value === null && error === null && <Loading of="tenants" />}
      {value?.tenants.length === 0 && <Empty title="No tenant has been set up">Tenants of tokens are created automatically.</Empty>}
      {value !== null && value.tenants.length > 0 && (
        <WideTable label="Tenants">
          <thead>
            <tr>
              <th scope="col">Tenant</th>
              <th scope="col">State</th>
              <th scope="col">Since</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {value.tenants.map((tenant) => (
              <Row key={tenant.name} tenant={tenant} onChanged={reload} />
            ))}
          </tbody>
        </WideTable>
      )}
      <NewTenant onMade={reload} />
    </Card>
  );
}

function Details({ name }: { name: string }) {
  const { value, error, reload } = useLoaded(() => body(api.GET('/v1/tenants/{tenant}', { params: { path: { tenant: name } } })), [name]);
  if (error !== null) return <ErrorNote text={error} />;
  if (value === null) return <Loading of="the tenant" />;
  return (
    <>
      <QuotaCard tenant={value} onSet={reload} />
      <UsageCard tenant={name} />
      <ConsentCard tenant={value} onSet={reload} />
      {name === session.value?.tenant && <TrustCard tenant={name} />}
      <ArchiveCard tenant={name} />
    </>
  );
}

export function TenantView() {
  const own = session.value?.tenant ?? '';
  const name = query.value.get('name') ?? own;
  if (!may('operator'))
    return (
      <>
        <ViewHead title="Tenant" />
        <Empty title="This needs the role operator">Ask one of your tenant's operators for help.</Empty>
      </>
    );
  return (
    <>
      <ViewHead title={`Tenant ${name}`} lead="Quota, usage and sharing.">
        {name !== own && (
          <button class="button" type="button" onClick={() => navigate('/tenant')}>
            Back to {own}
          </button>
        )}
      </ViewHead>
      <div class="stack">
        <Details key={name} name={name} />
        {may('admin') && <TenantsCard />}
      </div>
    </>
  );
}
