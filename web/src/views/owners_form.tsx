// Names of tenants that a person may change: with whom a device is shared, whose devices are trusted.
import { useState } from 'preact/hooks';
import { useAction } from '../ui/action';
import { ErrorNote } from '../ui/parts';

// `save` sends the names; `onSaved` is called once the server has taken them.
export function OwnersForm({ id, label, hint, owners, said, save, onSaved }: {
  id: string;
  label: string;
  hint: string;
  owners: readonly string[];
  said: string;
  save: (owners: string[]) => Promise<unknown>;
  onSaved: () => void;
}) {
  const [text, setText] = useState(() => owners.join(' '));
  const { error, isBusy, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    const names = [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];
    run(() => save(names), said, onSaved);
  };
  return (
    <form class="stack form-below" onSubmit={submit}>
      <div class="fields">
        <div class="field">
          <label for={id}>{label}</label>
          <input id={id} value={text} aria-describedby={`${id}-hint`} onInput={(event) => setText(event.currentTarget.value)} />
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        </div>
      </div>
      <ErrorNote text={error} />
      <div class="actions">
        <button class="button" type="submit" disabled={isBusy}>
          Save
        </button>
      </div>
    </form>
  );
}
