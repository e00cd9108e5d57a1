// Who may do what: the tokens of the tenant, its people, and what they have changed.
import { useState } from 'preact/hooks';
import { api, body, may, sentenceOf, session, type Token } from '../api/client';
import { useAction } from '../ui/action';
import { announce } from '../ui/announce';
import { ConfirmButton } from '../ui/confirm_button';
import { useLoaded } from '../ui/loading';
import { Card, Empty, ErrorNote, Loading, Moment, ViewHead, WideTable } from '../ui/parts';
import { moment } from '../format';
import { AuditCard } from './audit_card';
import { PeopleCards } from './people_cards';

type Role = Token['role'];
const ROLES: readonly { role: Role; may: string }[] = [
  { role: 'viewer', may: 'sees jobs, files and devices' },
  { role: 'member', may: 'also sends models and submits jobs' },
  { role: 'operator', may: 'also gives tokens, ends sessions, reads the audit log' },
  { role: 'admin', may: 'does the same for all tenants' },
];

function NewToken({ onMade }: { onMade: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [days, setDays] = useState('30');
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const create = (event: Event): void => {
    event.preventDefault();
    setError(null);
    body(api.POST('/v1/tokens', { body: { name, role, days: Number(days) } })).then(
      (made) => {
        setText(made.text);
        setName('');
        announce('The token is made; copy it now: it is not shown again');
        onMade();
      },
      (reason: unknown) => setError(sentenceOf(reason)),
    );
  };
  return (
    <form class="stack" onSubmit={create}>
      <div class="fields">
        <div class="field">
          <label for="token-name">Name</label>
          <input id="token-name" required maxLength={64} value={name} onInput={(event) => setName(event.currentTarget.value)} placeholder="nightly build" />
        </div>
        <div class="field">
          <label for="token-role">Role</label>
          <select id="token-role" value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
            {ROLES.filter((one) => may(one.role)).map((one) => (
              <option key={one.role} value={one.role}>
                {one.role}: {one.may}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="token-days">Days until it ends</label>
          <input id="token-days" type="number" required min={1} max={366} value={days} onInput={(event) => setDays(event.currentTarget.value)} />
        </div>
      </div>
      <ErrorNote text={error} />
      {text !== null && (
        <div class="note note-good" role="status">
          <p>Copy it now; nobody is told it again:</p>
          <code class="secret">{text}</code>
        </div>
      )}
      <div class="actions">
        <button class="button button-main" type="submit">
          Make a token
        </button>
      </div>
    </form>
  );
}

function Tokens({ tokens, onRevoked }: { tokens: readonly Token[]; onRevoked: () => void }) {
  const { error, run } = useAction();
  const revoke = ({ id, name }: Token): void => run(() => api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }), `${name} is revoked`, onRevoked);
  return (
    <>
      <ErrorNote text={error} />
      <WideTable label="Tokens">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Role</th>
            <th scope="col">Made</th>
            <th scope="col">Ends</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.id}>
              <th scope="row">{token.name}</th>
              <td>{token.role}</td>
              <td>
                <Moment time={token.created} />
              </td>
              <td>{moment(token.expires)}</td>
              <td class="number">
                <ConfirmButton name="Revoke" of={token.name} act={() => revoke(token)} />
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </>
  );
}

function TokenCards() {
  const { value, error, reload } = useLoaded(() => body(api.GET('/v1/tokens')), []);
  return (
    <>
      <Card title="New token" hint="For scripts and people. A token reaches your tenant's data.">
        <NewToken onMade={reload} />
      </Card>
      <Card title="Valid tokens">
        <ErrorNote text={error} />
        {value === null && error === null && <Loading of="tokens" />}
        {value?.tokens.length === 0 && <Empty title="No tokens">Make the first one above.</Empty>}
        {value !== null && value.tokens.length > 0 && <Tokens tokens={value.tokens} onRevoked={reload} />}
      </Card>
    </>
  );
}

export function AccessView() {
  const who = session.value;
  return (
    <>
      <ViewHead title="Access" lead={`You are ${who?.name ?? ''}, ${who?.role ?? ''} of ${who?.tenant ?? ''}.`} />
      <div class="stack">
        {may('operator') ? (
          <>
            <TokenCards />
            <PeopleCards />
            <AuditCard />
          </>
        ) : <Empty title="This needs the role operator">Ask one of your tenant's operators for help.</Empty>}
      </div>
    </>
  );
}
