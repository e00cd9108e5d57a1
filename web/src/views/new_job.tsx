// Submits a tuning job: files, where it runs, and how much it may cost.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { agreementOf, NO_WISH, type AgreementWish } from '../agreement';
import { api, body, may, sentenceOf, type Device, type ModelDetail, type NewJob } from '../api/client';
import { jobNameOf } from '../job_facts';
import { navigate, query } from '../router';
import { DropZone } from '../ui/drop_zone';
import { useLoaded } from '../ui/loading';
import { NumberField } from '../ui/number_field';
import { Card, Empty, ErrorNote, ViewHead } from '../ui/parts';
import { SentFileList } from '../ui/sent_file_list';
import { isModelName, makeSentFiles, type SentFile } from '../upload/sent_files';
import { AgreementFields, PredictionCard } from './agreement_fields';

interface Key {
  key: string;
  devices: number;
  free: number;
}
function keysOf(devices: readonly Device[]): Key[] {
  const keys = new Map<string, Key>();
  for (const device of devices)
    for (const key of device.keys) {
      const known = keys.get(key) ?? { key, devices: 0, free: 0 };
      known.devices += 1;
      known.free += device.state === 'free' ? 1 : 0;
      keys.set(key, known);
    }
  // Those that people have given before the names of single devices.
  const isOwn = ({ key }: Key): number => (key.includes('/') ? 1 : 0);
  return [...keys.values()].sort((a, b) => isOwn(a) - isOwn(b) || b.devices - a.devices || a.key.localeCompare(b.key));
}

interface Wish {
  name: string;
  on: string;
  trials: string;
  minutes: string;
  threads: string;
  agreement: AgreementWish;
}

// A file that the server has.
interface Input {
  name: string;
  sha256: string;
}

// What the job is given: its model first. Null until all is there.
function inputsOf(known: ModelDetail | null, sent: readonly SentFile[]): readonly Input[] | null {
  if (known !== null) return known.files;
  const model = sent.find((file) => isModelName(file.name)) ?? sent[0];
  if (model === undefined || sent.some((file) => file.step !== 'sent')) return null;
  return [model, ...sent.filter((file) => file !== model)].map((file) => ({ name: file.name, sha256: file.digest ?? '' }));
}

function jobOf(wish: Wish, inputs: readonly Input[]): NewJob {
  const agreement = agreementOf(wish.agreement);
  return {
    ...(agreement === null ? {} : { agreement }),
    name: wish.name,
    kind: 'tuning',
    on: wish.on,
    inputs: inputs.map(({ name, sha256 }) => ({ name: `in/${name}`, sha256 })),
    settings: {
      model: `in/${inputs[0]?.name ?? ''}`,
      events: 'out/events.jsonl',
      threads: Number(wish.threads),
      ...(wish.trials === '' ? {} : { trials: Number(wish.trials) }),
      ...(wish.minutes === '' ? {} : { time: `${wish.minutes}m` }),
    } as unknown as NonNullable<NewJob['settings']>,
  };
}

async function readModel(id: string | null): Promise<ModelDetail | null> {
  return id === null ? null : body(api.GET('/v1/models/{id}', { params: { path: { id } } }));
}

export function NewJobView() {
  const sent = useMemo(makeSentFiles, []);
  useEffect(() => sent.stop, [sent]);
  const devices = useLoaded(() => body(api.GET('/v1/devices')), [], 5);
  const keys = keysOf(devices.value?.devices ?? []);
  const [wish, setWish] = useState<Wish>({ name: '', on: '', trials: '200', minutes: '', threads: '1', agreement: NO_WISH });
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // The same key for the same wish, so that pressing twice submits once.
  const [key, setKey] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join('-'));
  const change = (next: Partial<Wish>): void => {
    setWish((old) => ({ ...old, ...next }));
    setKey(crypto.getRandomValues(new Uint32Array(4)).join('-'));
  };
  const files = sent.files();
  const known = useLoaded<ModelDetail | null>(() => readModel(query.value.get('model')), [query.value.get('model')]);
  const inputs = inputsOf(known.value, files);
  const modelName = inputs?.[0]?.name ?? files.find((file) => isModelName(file.name))?.name ?? files[0]?.name ?? '';
  const on = wish.on === '' ? (keys[0]?.key ?? '') : wish.on;
  const name = wish.name === '' && modelName !== '' ? jobNameOf(modelName) : wish.name;

  const submit = (event: Event): void => {
    event.preventDefault();
    if (inputs === null) return setError(files.length === 0 ? 'add a model first: drop its file above' : 'wait until all files are sent');
    if (wish.trials === '' && wish.minutes === '') return setError('say how much it may cost: trials, minutes or both');
    setBusy(true);
    setError(null);
    body(api.POST('/v1/jobs', { params: { header: { 'Idempotency-Key': key } }, body: jobOf({ ...wish, on, name }, inputs) })).then(
      (made) => navigate(`/jobs/${encodeURIComponent(made.id)}`),
      (reason: unknown) => {
        setError(sentenceOf(reason));
        setBusy(false);
      },
    );
  };
  if (!may('member'))
    return (
      <>
        <ViewHead title="Tune a model" />
        <Empty title="This takes the role member">Ask an operator of your tenant for a token with it.</Empty>
      </>
    );
  return (
    <>
      <ViewHead title="Tune a model" lead="Attune measures many versions of each kernel on the device, and keeps the fastest." />
      <form class="stack" onSubmit={submit}>
        <Card title="Model" hint="ONNX, TensorFlow, TFLite or PyTorch's exported program, with the files that it names beside it.">
          {known.value === null ? (
            <>
              <DropZone
                id="files"
                title="Drop the model here, or"
                hint="Sent in pieces of 4 MiB; what breaks off goes on where it was."
                onFiles={(given) => sent.add(given)}
              />
              <SentFileList sent={sent} />
            </>
          ) : (
            <p>
              <strong>{known.value.name}</strong>, which the server has. <a href="/new">Take another one</a>
            </p>
          )}
          <ErrorNote text={known.error} />
        </Card>
        <Card title="Where">
          <div class="fields">
            <div class="field">
              <label for="name">Name of the job</label>
              <input id="name" required maxLength={64} pattern="[A-Za-z0-9._\-]+" value={name} onInput={(event) => change({ name: event.currentTarget.value })} />
            </div>
            <div class="field">
              <label for="device">Device</label>
              <select id="device" required value={on} onChange={(event) => change({ on: event.currentTarget.value })}>
                {keys.length === 0 && <option value="">no device is known</option>}
                {keys.map((one) => (
                  <option key={one.key} value={one.key}>
                    {one.key} ({one.free} of {one.devices} free)
                  </option>
                ))}
              </select>
              {devices.value !== null && keys.length === 0 && (
                <p class="hint">
                  Offer one with <code>attune fleet invite</code> and <code>attune agent</code>.
                </p>
              )}
            </div>
            <NumberField id="threads" label="Threads" hint="That the network will run on" min={1} max={1024} isRequired value={wish.threads} set={(threads) => change({ threads })} />
          </div>
        </Card>
        <Card title="Budget" hint="It ends at whichever comes first.">
          <div class="fields">
            <NumberField id="trials" label="Trials" hint="Versions of kernels that are measured" min={1} max={1_000_000} value={wish.trials} set={(trials) => change({ trials })} />
            <NumberField id="minutes" label="Minutes" min={1} max={10_000} value={wish.minutes} set={(minutes) => change({ minutes })} />
          </div>
        </Card>
        <AgreementFields wish={wish.agreement} change={(next) => change({ agreement: { ...wish.agreement, ...next } })} />
        <PredictionCard job={inputs === null ? null : jobOf({ ...wish, on, name }, inputs)} />
        <ErrorNote text={error} />
        <div class="actions">
          <button class="button button-main" type="submit" disabled={isBusy}>
            {isBusy ? 'Submitting …' : 'Start tuning'}
          </button>
        </div>
      </form>
    </>
  );
}
