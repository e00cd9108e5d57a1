// Takes files: dropped, or chosen with a dialog that opens by keyboard too. Folders too, where that is wanted.
import { useEffect, useState } from 'preact/hooks';
import { chosenFiles, droppedFiles, type GivenFile } from '../upload/given_files';
import { Icon } from './icons';
import { ErrorNote } from './parts';

interface DropZoneProps {
  id: string;
  title: string;
  hint: string;
  takesFolders?: boolean;
  onFiles: (files: readonly GivenFile[]) => void;
}

export function DropZone({ id, title, hint, takesFolders = false, onFiles }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const [error, setError] = useState<string | null>(null);
  // A file that misses the zone must not take the place of the page.
  useEffect(() => {
    const keep = (event: DragEvent): void => event.preventDefault();
    window.addEventListener('dragover', keep);
    window.addEventListener('drop', keep);
    return () => {
      window.removeEventListener('dragover', keep);
      window.removeEventListener('drop', keep);
    };
  }, []);
  const take = (files: readonly GivenFile[]): void => {
    setError(null);
    if (files.length > 0) onFiles(files);
  };
  const takeDropped = (data: DataTransfer | null): void => {
    droppedFiles(data?.items ?? []).then(take, () => setError('a folder cannot be read; choose it, or drop its files'));
  };
  const takeChosen = (input: HTMLInputElement): void => {
    take(chosenFiles(input.files ?? []));
    input.value = '';
  };
  const zone = (
    <div
      class={isOver ? 'drop drop-over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        takeDropped(event.dataTransfer);
      }}
    >
      <Icon name="upload" />
      <label for={id}>
        {title} <span class="link">choose files</span>
      </label>
      <input
        id={id}
        type="file"
        multiple
        aria-describedby={`${id}-hint`}
        onChange={(event) => takeChosen(event.currentTarget)}
      />
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  );
  return (
    <>
      {zone}
      {takesFolders && (
        <label class="button folder-choice">
          Choose a folder
          <input
            ref={(input) => {
              if (input !== null) input.webkitdirectory = true;
            }}
            type="file"
            class="visually-hidden"
            onChange={(event) => takeChosen(event.currentTarget)}
          />
        </label>
      )}
      <ErrorNote text={error} />
    </>
  );
}
