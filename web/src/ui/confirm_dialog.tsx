// Asks before something that cannot be taken back. Escape and the first button, which has the focus, leave it be.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ConfirmDialogProps {
  title: string;
  yes: string;
  no: string;
  children: ComponentChildren;
  onYes: () => void;
  onClose: () => void;
}

export function ConfirmDialog({ title, yes, no, children, onYes, onClose }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Keeps the focus within, and gives it back in the end.
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => dialog.current?.close();
  return (
    <dialog ref={dialog} class="dialog" role="alertdialog" aria-labelledby="dialog-title" aria-describedby="dialog-text" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      <p id="dialog-text">{children}</p>
      <div class="actions">
        <button class="button" type="button" onClick={close}>
          {no}
        </button>
        <button
          class="button button-bad"
          type="button"
          onClick={() => {
            onYes();
            close();
          }}
        >
          {yes}
        </button>
      </div>
    </dialog>
  );
}
