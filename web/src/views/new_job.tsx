// Submits a job: files, where it runs, how much it may cost, and what it has to reach.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { sentenceOfAgreement, withOffers, type Offer } from '../agreement';
import { api, body, may, sentenceOf, Problem, type Device, type ModelDetail } from '../api/client';
import { jobNameOf } from '../job_facts';
import { FIRST_WISH, inputsOf, jobOf, lackOf, samplesOf, type Wish } from '../job_request';
import { navigate, query } from '../router';
import { DropZone } from '../ui/drop_zone';
import { useLoaded } from '../ui/loading';
import { NumberField, SelectField, TextField, type Choice } from '../ui/fields';
import { Card, Empty, ErrorNote, ViewHead } from '../ui/parts';
import { SentFileList } from '../ui/sent_file_list';
import { isModelName, makeSentFiles, type SentFiles } from '../upload/sent_files';
import { AgreementFields, PredictionCard, usePrediction } from './agreement_fields';

const CONFLICT = 409; // the server does not promise what is asked for
const KINDS = [
  { kind: 'tuning', name: 'Tune', hint: 'Finds faster kernels; the results stay the same.' },
  { kind: 'quantization', name: 'Quantize', hint: 'Compares ways to quantize to 8-bit integers on samples: faster and smaller, with some loss of accuracy.' },
] as const;

// Imagenet is a synonym of torch.
const PREPROCESSINGS: readonly Choice[] = [
  { value: '', name: 'as the model says, or else 0 to 255' },
  { value: 'torch', name: 'torch: 0 to 1, with mean and deviation of ImageNet' },
  { value: 'tf', name: 'tf: -1 to 1' },
  { value: 'caffe', name: 'caffe: BGR, 0 to 255 less the mean of ImageNet' },
  { value: 'none', name: 'none: 0 to 255' },
];

function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

interface Key {
  key: string;
  devices: number;
  free: number;
}
function keysOf(devices: readonly Device[]): Key[] {
  const keys = new Map<string, Key>();
  for (const device of devices.filter((one) => one.is_usable))
    for (const key of device.keys) {
      const known = keys.get(key) ?? { key, devices: 0, free: 0 };
      known.devices += 1;
      known.free += device.state === 'free' ? 1 : 0;
      keys.set(key, known);
    }
  // Keys that people have given before the names of single devices.
  const isOwn = ({ key }: Key): number => (key.includes('/') ? 1 : 0);
  return [...keys.values()].sort((a, b) => isOwn(a) - isOwn(b) || b.devices - a.devices || a.key.localeCompare(b.key));
}

async function readModel(id: string | null): Promise<ModelDetail | null> {
  return id === null ? null : body(api.GET('/v1/models/{id}', { params: { path: { id } } }));
}

interface FieldsProps {
  wish: Wish;
  change: (next: Partial<Wish>) => void;
}

function KindCard({ wish, change }: FieldsProps) {
  return (
    <Card title="What to do">
      <div class="fields">
        {KINDS.map(({ kind, name, hint }) => (
          <div key={kind} class="check">
            <input id={`kind-${kind}`} type="radio" name="kind" checked={wish.kind === kind} aria-describedby={`kind-${kind}-hint`} onChange={() => change({ kind })} />
            <label for={`kind-${kind}`}>{name}</label>
            <p class="hint" id={`kind-${kind}-hint`}>
              {hint}
            </p>
          </div>
        ))}
      </div>
    </Card>
  );
}

function SamplesCard({ wish, change, samples }: FieldsProps & { samples: SentFiles }) {
  return (
    <Card title="Samples" hint="Realistic inputs of the network. Some calibrate it; the others are held out to measure the loss of accuracy.">
      <div class="stack">
        <div>
          <DropZone
            id="samples"
            title="Drop samples here, or"
            hint="Files or folders of files: pictures, .npy or .pb. A network with several inputs takes one folder per sample, with files named after the inputs."
            takesFolders
            onFiles={(given) => samples.add(given)}
          />
          <SentFileList sent={samples} />
        </div>
        <div class="fields">
          <NumberField id="judged" label="Hold out one sample in" hint="Held-out samples measure the loss of accuracy. Default: one in 4 if a loss of accuracy is asked for, else none." min={2} max={1_000_000} value={wish.judged} set={(judged) => change({ judged })} />
        </div>
      </div>
    </Card>
  );
}

function PicturesCard({ wish, change }: FieldsProps) {
  return (
    <Card title="Pictures" hint="For networks that take pictures: the numbers that a photo becomes, as the network was trained. The resulting files carry them, so that they take photos.">
      <div class="fields">
        <SelectField id="preprocess" label="Preprocessing" hint="A mean or a scale beside it replaces that part." choices={PREPROCESSINGS} value={wish.preprocess} set={(preprocess) => change({ preprocess })} />
        <TextField id="mean-of-pictures" label="Mean of pictures" hint="Subtracted first: one number, or three with commas" value={wish.imageMean} set={(imageMean) => change({ imageMean })} />
        <TextField id="scale-of-pictures" label="Scale of pictures" hint="Multiplied afterwards: one number, or three with commas" value={wish.imageScale} set={(imageScale) => change({ imageScale })} />
      </div>
    </Card>
  );
}

function BudgetCard({ wish, change }: FieldsProps) {
  return (
    <Card title="Budget" hint="The job ends when one of these is used up.">
      <div class="fields">
        <NumberField id="trials" label="Trials" hint="Measured candidates of kernels" min={1} max={1_000_000} value={wish.trials} set={(trials) => change({ trials })} />
        <NumberField id="minutes" label="Minutes" min={1} max={10_000} value={wish.minutes} set={(minutes) => change({ minutes })} />
        <NumberField id="parts" label="Devices at a time" hint="Jobs of higher priority may use more" min={1} max={64} isRequired value={wish.parts} set={(parts) => change({ parts })} />
      </div>
    </Card>
  );
}

function PlaceCard({ wish, change, devices }: FieldsProps & { devices: readonly Device[] | null }) {
  const keys = keysOf(devices ?? []);
  return (
    <Card title="Where">
      <div class="fields">
        <TextField id="name" label="Name of the job" isRequired pattern="[A-Za-z0-9._\-]+" value={wish.name} set={(name) => change({ name })} />
        <div class="field">
          <label for="device">Device</label>
          <select id="device" required value={wish.on} onChange={(event) => change({ on: event.currentTarget.value })}>
            {keys.length === 0 && <option value="">no devices yet</option>}
            {keys.map((one) => (
              <option key={one.key} value={one.key}>
                {one.key} ({one.free} of {one.devices} free)
              </option>
            ))}
          </select>
          {devices !== null && keys.length === 0 && (
            <p class="hint">
              Add one with <code>attune fleet invite</code> and <code>attune agent</code>.
            </p>
          )}
        </div>
        <NumberField id="threads" label="Threads" hint="Threads of one inference" min={1} max={1024} isRequired value={wish.threads} set={(threads) => change({ threads })} />
      </div>
    </Card>
  );
}

function ModelCard({ sent, known, error }: { sent: SentFiles; known: ModelDetail | null; error: string | null }) {
  return (
    <Card title="Model" hint="ONNX, TensorFlow, TFLite or a PyTorch exported program, with the files that it names beside it.">
      {known === null ? (
        <>
          <DropZone id="files" title="Drop the model here, or" hint="Sent in pieces of 4 MiB; an interrupted upload resumes where it stopped." onFiles={(given) => sent.add(given)} />
          <SentFileList sent={sent} />
        </>
      ) : (
        <p>
          <strong>{known.name}</strong>, which the server has. <a href="/new">Take another one</a>
        </p>
      )}
      <ErrorNote text={error} />
    </Card>
  );
}

function useSentFiles(): SentFiles {
  const sent = useMemo(makeSentFiles, []);
  useEffect(() => sent.stop, [sent]);
  return sent;
}

function Form() {
  const [sent, samples] = [useSentFiles(), useSentFiles()];
  const devices = useLoaded(() => body(api.GET('/v1/devices')), [], 5);
  const [given, setGiven] = useState<Wish>(FIRST_WISH);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // The same key for the same wish, so that pressing twice submits once.
  const [key, setKey] = useState(newKey);
  const change = (next: Partial<Wish>): void => {
    setGiven((old) => ({ ...old, ...next }));
    setKey(newKey());
    setError(null);
  };
  const files = sent.files();
  const id = query.value.get('model');
  const known = useLoaded<ModelDetail | null>(() => readModel(id), [id]);
  const inputs = known.value === null ? inputsOf(files) : known.value.files;
  const modelName = inputs?.[0]?.name ?? files.find((file) => isModelName(file.name))?.name ?? files[0]?.name ?? '';
  const wish: Wish = {
    ...given,
    on: given.on === '' ? (keysOf(devices.value?.devices ?? [])[0]?.key ?? '') : given.on,
    name: given.name === '' && modelName !== '' ? jobNameOf(modelName) : given.name,
  };
  const lack = lackOf(wish, { files, inputs, samples: samples.files() });
  const job = lack === null && inputs !== null ? jobOf(wish, inputs, samplesOf(samples.files()) ?? []) : null;
  const predicted = usePrediction(job, lack);

  const submit = (event: Event): void => {
    event.preventDefault();
    if (job === null) return setError(lack);
    setBusy(true);
    setError(null);
    body(api.POST('/v1/jobs', { params: { header: { 'Idempotency-Key': key } }, body: job })).then(
      (made) => navigate(`/jobs/${encodeURIComponent(made.id)}`),
      (reason: unknown) => {
        setError(sentenceOfAgreement(sentenceOf(reason)));
        setBusy(false);
        if (reason instanceof Problem && reason.status === CONFLICT) predicted.ask();
      },
    );
  };
  const takeOffers = (offers: readonly Offer[]): void => change({ agreement: withOffers(wish.agreement, offers) });
  const fields = { wish, change };
  return (
    <form class="stack" onSubmit={submit}>
      <ModelCard sent={sent} known={known.value} error={known.error} />
      <KindCard {...fields} />
      {wish.kind === 'quantization' && <SamplesCard {...fields} samples={samples} />}
      <PicturesCard {...fields} />
      <PlaceCard {...fields} devices={devices.value?.devices ?? null} />
      {wish.kind === 'tuning' && <BudgetCard {...fields} />}
      <AgreementFields wish={wish.agreement} change={(next) => change({ agreement: { ...wish.agreement, ...next } })} />
      <PredictionCard predicted={predicted} isQuantized={wish.kind === 'quantization'} takeOffers={takeOffers} />
      <ErrorNote text={error} />
      <div class="actions">
        <button class="button button-main" type="submit" disabled={isBusy}>
          {isBusy ? 'Submitting …' : wish.kind === 'tuning' ? 'Start tuning' : 'Start quantizing'}
        </button>
      </div>
    </form>
  );
}

export function NewJobView() {
  return (
    <>
      <ViewHead title="Tune a model" lead="Attune measures many versions of each kernel on the device, and keeps the fastest." />
      {may('member') ? <Form /> : <Empty title="This needs the role member">Ask an operator of your tenant for a token with it.</Empty>}
    </>
  );
}
