// A button for what cannot be taken back: it asks once more, and forgets that when the focus leaves it.
import { useState } from 'preact/hooks';

export function ConfirmButton({ name, of, act }: { name: string; of: string; act: () => void }) {
  const [isAsked, setAsked] = useState(false);
  const label = isAsked ? `Really ${name.toLowerCase()}` : name;
  const press = (): void => {
    setAsked(!isAsked);
    if (isAsked) act();
  };
  return (
    <button class={isAsked ? 'button button-bad' : 'quiet'} type="button" onClick={press} onBlur={() => setAsked(false)} aria-label={`${label} ${of}`}>
      {label}
    </button>
  );
}
