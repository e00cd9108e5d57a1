// The tenant's people and their sessions: listed, ended, kept out.
import { api, body, type Schemas } from '../api/client';
import { moment } from '../format';
import { useAction } from '../ui/action';
import { ConfirmButton } from '../ui/confirm_button';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, Moment, WideTable } from '../ui/parts';

type Person = Schemas['Person'];

function PersonRow({ person, onChanged }: { person: Person; onChanged: () => void }) {
  const { error, isBusy, run } = useAction();
  const logOut = (isBlocked: boolean, said: string): void =>
    run(() => api.POST('/v1/people/{id}/logout', { params: { path: { id: person.id } }, body: { is_blocked: isBlocked } }), said, onChanged);
  return (
    <tr>
      <th scope="row">
        {person.name}
        <span class="config">by {person.issuer}</span>
        <ErrorNote text={error} />
      </th>
      <td>{person.role}</td>
      <td>
        <Moment time={person.last_login} />
      </td>
      <td>
        <Badge state={person.is_blocked ? 'blocked' : 'active'} />
      </td>
      <td class="number">
        {person.is_blocked ? (
          <button class="quiet" type="button" disabled={isBusy} aria-label={`Unblock ${person.name}`} onClick={() => logOut(false, `${person.name} may log in again`)}>
            Unblock
          </button>
        ) : (
          <>
            <ConfirmButton name="Log out" of={person.name} act={() => logOut(false, `${person.name} is logged out`)} />
            <ConfirmButton name="Block" of={person.name} act={() => logOut(true, `${person.name} is blocked`)} />
          </>
        )}
      </td>
    </tr>
  );
}

function People({ people, onChanged }: { people: readonly Person[]; onChanged: () => void }) {
  return (
    <WideTable label="People">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Role</th>
          <th scope="col">Last login</th>
          <th scope="col">State</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {people.map((person) => (
          <PersonRow key={person.id} person={person} onChanged={onChanged} />
        ))}
      </tbody>
    </WideTable>
  );
}

function Sessions({ sessions, end }: { sessions: readonly Schemas['OpenSession'][]; end: (id: string) => void }) {
  return (
    <WideTable label="Sessions">
      <thead>
        <tr>
          <th scope="col">Of</th>
          <th scope="col">Role</th>
          <th scope="col">Started by</th>
          <th scope="col">Begun</th>
          <th scope="col">Ends</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {sessions.map((one) => (
          <tr key={one.id}>
            <th scope="row">{one.name}</th>
            <td>{one.role}</td>
            <td>{one.person === '' ? 'a token' : 'a login'}</td>
            <td>
              <Moment time={one.created} />
            </td>
            <td>{moment(one.expires)}</td>
            <td class="number">
              <ConfirmButton name="End" of={`the session of ${one.name}, begun ${moment(one.created)}`} act={() => end(one.id)} />
            </td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

export function PeopleCards() {
  const people = useLoaded(() => body(api.GET('/v1/people')), []);
  const sessions = useLoaded(() => body(api.GET('/v1/sessions')), []);
  const { error, run } = useAction();
  const reload = (): void => {
    people.reload();
    sessions.reload();
  };
  const end = (id: string): void => run(() => api.DELETE('/v1/sessions/{id}', { params: { path: { id } } }), 'The session has ended', reload);
  return (
    <>
      <Card title="People" hint="People who have logged in at an identity provider. Blocked people are refused from the next request on.">
        <ErrorNote text={people.error} />
        {people.value === null && people.error === null && <Loading of="people" />}
        {people.value?.people.length === 0 && <Empty title="No people yet">If the server has an identity provider, the login shows a button for it.</Empty>}
        {people.value !== null && people.value.people.length > 0 && <People people={people.value.people} onChanged={reload} />}
      </Card>
      <Card title="Sessions" hint="Browsers that are logged in, including yours.">
        <ErrorNote text={sessions.error ?? error} />
        {sessions.value === null && sessions.error === null && <Loading of="sessions" />}
        {sessions.value?.sessions.length === 0 && <Empty title="No sessions">Browsers that log in are listed here.</Empty>}
        {sessions.value !== null && sessions.value.sessions.length > 0 && <Sessions sessions={sessions.value.sessions} end={end} />}
      </Card>
    </>
  );
}
