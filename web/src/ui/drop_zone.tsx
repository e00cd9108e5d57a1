// Takes files: dropped, or chosen with a dialog that opens by keyboard too.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons';

interface DropZoneProps {
  id: string;
  title: string;
  hint: string;
  onFiles: (files: File[]) => void;
}

export function DropZone({ id, title, hint, onFiles }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
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
  const take = (files: FileList | null | undefined): void => {
    if (files !== null && files !== undefined && files.length > 0) onFiles([...files]);
  };
  return (
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
        take(event.dataTransfer?.files);
      }}
    >
      <Icon name="upload" />
      <label for={id}>
        {title} <span class="link">choose files</span>
      </label>
      <input
        ref={input}
        id={id}
        type="file"
        multiple
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  );
}
