// Who has changed what, the latest first.
import { useState } from 'preact/hooks';
import { api, body, sentenceOf, type Schemas } from '../api/client';
import { moment } from '../format';
import { useLoaded } from '../ui/loading';
import { Card, Empty, ErrorNote, Loading, WideTable } from '../ui/parts';

type Entry = Schemas['AuditEntry'];

async function readPage(cursor: string | null) {
  return body(api.GET('/v1/audit', { params: { query: cursor === null ? {} : { cursor } } }));
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  return (
    <WideTable label="Audit">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">Did</th>
          <th scope="col">To</th>
          <th scope="col">Result</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.sequence}>
            <td>{moment(entry.time)}</td>
            <td>{entry.actor_name === '' ? entry.actor : entry.actor_name}</td>
            <th scope="row">{entry.is_erased ? 'erased' : entry.operation}</th>
            <td>
              <code>{entry.subject}</code>
            </td>
            <td>{entry.result}</td>
          </tr>
        ))}
      </tbody>
    </WideTable>
  );
}

export function AuditCard() {
  const first = useLoaded(() => readPage(null), []);
  const [later, setLater] = useState<{ entries: Entry[]; cursor: string | null } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const entries = [...(first.value?.entries ?? []), ...(later?.entries ?? [])];
  const cursor = later === null ? (first.value?.next_cursor ?? null) : later.cursor;
  const more = (): void => {
    readPage(cursor).then(
      (page) => setLater((old) => ({ entries: [...(old?.entries ?? []), ...page.entries], cursor: page.next_cursor })),
      (reason: unknown) => setError(sentenceOf(reason)),
    );
  };
  return (
    <Card title="Audit" hint="Every change. Each entry contains the hash of the one before.">
      <ErrorNote text={first.error ?? error} />
      {first.value === null && first.error === null && <Loading of="entries" />}
      {first.value !== null && entries.length === 0 && <Empty title="No changes yet">Changes are listed here as they are made.</Empty>}
      {entries.length > 0 && <Entries entries={entries} />}
      {cursor !== null && (
        <button class="button" type="button" onClick={more}>
          Show earlier entries
        </button>
      )}
    </Card>
  );
}
