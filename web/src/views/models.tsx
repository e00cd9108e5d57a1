// The tenant's models: what the server has found in them, and the files that were sent.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { api, body, may, sentenceOf, type Model, type ModelDetail } from '../api/client';
import { bytes, count, percent, shortDigest } from '../format';
import { announce } from '../ui/announce';
import { DropZone } from '../ui/drop_zone';
import { useLoaded } from '../ui/loading';
import { Badge, Card, Empty, ErrorNote, Loading, Moment, ViewHead, WideTable } from '../ui/parts';
import { SentFileList } from '../ui/sent_file_list';
import { isModelName, makeSentFiles, type SentFiles } from '../upload/sent_files';

const REFRESH_S = 3;
const GIGA = 1e9;

function Uploads() {
  const { value, error, reload } = useLoaded(() => body(api.GET('/v1/uploads')), [], 10);
  const [refused, setRefused] = useState<string | null>(null);
  const remove = (sha256: string): void => {
    api.DELETE('/v1/uploads/{sha256}', { params: { path: { sha256 } } }).then(reload, (reason: unknown) => setRefused(sentenceOf(reason)));
  };
  if (error !== null) return <ErrorNote text={error} />;
  if (value === null) return <Loading of="files" />;
  if (value.uploads.length === 0) return <Empty title="No files yet">Drop a file above, or start with “Tune a model”.</Empty>;
  return (
    <>
      <ErrorNote text={refused} />
      <WideTable label="Uploaded files">
        <thead>
          <tr>
            <th scope="col">SHA-256</th>
            <th scope="col" class="number">Size</th>
            <th scope="col" class="number">There</th>
            <th scope="col">Begun</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {value.uploads.map((upload) => (
            <tr key={upload.sha256}>
              <th scope="row">
                <code title={upload.sha256}>{shortDigest(upload.sha256)}</code>
              </th>
              <td class="number">{bytes(upload.bytes)}</td>
              <td class="number">{upload.is_complete ? 'all' : percent(upload.bytes === 0 ? 0 : upload.offset / upload.bytes)}</td>
              <td>
                <Moment time={upload.created} />
              </td>
              <td class="number">
                {may('member') && (
                  <button class="quiet" type="button" onClick={() => remove(upload.sha256)} aria-label={`Delete ${shortDigest(upload.sha256)}`}>
                    Delete
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </>
  );
}

function Facts({ id }: { id: string }) {
  const { value, error } = useLoaded<ModelDetail>(() => body(api.GET('/v1/models/{id}', { params: { path: { id } } })), [id]);
  if (error !== null) return <ErrorNote text={error} />;
  if (value === null) return <Loading of="its facts" />;
  const facts = value.facts;
  if (facts === null) return null;
  const flops = facts.tasks.reduce((sum, task) => sum + task.flops * task.uses, 0);
  const tensors = (list: { name: string; type: string }[]): string => list.map(({ name, type }) => `${name}: ${type}`).join(', ');
  return (
    <dl class="facts">
      <dt>Format</dt>
      <dd>{facts.format}</dd>
      <dt>Inputs</dt>
      <dd>{tensors(facts.inputs)}</dd>
      <dt>Outputs</dt>
      <dd>{tensors(facts.outputs)}</dd>
      <dt>Weights</dt>
      <dd>{bytes(facts.weight_bytes)}</dd>
      <dt>Work</dt>
      <dd>
        {(flops / GIGA).toPrecision(3)} GFLOP an inference, in {count(facts.tasks.length)} different kernels
      </dd>
    </dl>
  );
}

function ModelRow({ model }: { model: Model }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li class="model-row">
      <div class="model-head">
        <strong class="file-name">{model.name}</strong>
        <Badge state={model.state} />
        <span class="muted">
          <Moment time={model.created} />
        </span>
        {model.state === 'ready' && may('member') && (
          <a class="button" href={`/new?model=${model.id}`} aria-label={`Tune ${model.name}`}>
            Tune
          </a>
        )}
      </div>
      {model.error !== '' && <p class="bad">{model.error}</p>}
      {model.state === 'ready' && (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>What it computes</summary>
          {isOpen && <Facts id={model.id} />}
        </details>
      )}
    </li>
  );
}

function ModelList({ models, error }: { models: readonly Model[] | null; error: string | null }) {
  if (error !== null) return <ErrorNote text={error} />;
  if (models === null) return <Loading of="models" />;
  if (models.length === 0) return <Empty title="No models yet">Drop one above: the server imports it in a sandbox and shows its facts.</Empty>;
  return (
    <ul class="model-list">
      {models.map((model) => (
        <ModelRow key={model.id} model={model} />
      ))}
    </ul>
  );
}

// Has the server import the model whose files are all there.
function useImport(sent: SentFiles, onKnown: () => void): string | null {
  const [error, setError] = useState<string | null>(null);
  const files = sent.files();
  const isWhole = files.length > 0 && files.every((file) => file.step === 'sent');
  const key = isWhole ? files.map((file) => `${file.name} ${file.digest ?? ''}`).join('\n') : '';
  useEffect(() => {
    const model = files.find((file) => isModelName(file.name)) ?? files[0];
    if (key === '' || model === undefined) return;
    const others = files.filter((file) => file !== model).map((file) => ({ name: file.name, sha256: file.digest ?? '' }));
    setError(null);
    body(api.POST('/v1/models', { body: { name: model.name, sha256: model.digest ?? '', files: others } })).then(
      () => {
        announce(`${model.name} is being imported`);
        onKnown();
      },
      (reason: unknown) => setError(sentenceOf(reason)),
    );
  }, [key]);
  return error;
}

export function ModelsView() {
  const sent = useMemo(makeSentFiles, []);
  useEffect(() => sent.stop, [sent]);
  const models = useLoaded(() => body(api.GET('/v1/models')), [], REFRESH_S);
  const error = useImport(sent, models.reload);
  const sentCount = sent.files().filter((file) => file.step === 'sent').length;
  return (
    <>
      <ViewHead title="Models" lead="Models of your tenant. Jobs keep their own copies." />
      <div class="stack">
        {may('member') && (
          <Card title="Upload a model">
            <DropZone
              id="model-files"
              title="Drop a model here, or"
              hint="With the files that it names, if any. The server imports it in a sandbox at once, and runs nothing."
              onFiles={(given) => sent.add(given)}
            />
            <SentFileList sent={sent} />
            <ErrorNote text={error} />
          </Card>
        )}
        <Card title="Known models">
          <ModelList models={models.value?.models ?? null} error={models.error} />
        </Card>
        <Card title="Files">
          <Uploads key={sentCount} />
        </Card>
      </div>
    </>
  );
}
