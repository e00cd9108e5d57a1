// Fields of a form, each with its label and its hint.
interface NumberFieldProps {
  id: string;
  label: string;
  hint?: string;
  value: string;
  min: number;
  max: number;
  step?: string;
  isRequired?: boolean;
  set: (value: string) => void;
}
export function NumberField({ id, label, hint, value, min, max, step = '1', isRequired = false, set }: NumberFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        step={step}
        required={isRequired}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => set(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  id: string;
  label: string;
  hint?: string;
  value: string;
  pattern?: string;
  isRequired?: boolean;
  set: (value: string) => void;
}
export function TextField({ id, label, hint, value, pattern, isRequired = false, set }: TextFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        required={isRequired}
        maxLength={64}
        {...(pattern === undefined ? {} : { pattern })}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => set(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface Choice {
  value: string;
  name: string;
}
interface SelectFieldProps {
  id: string;
  label: string;
  hint?: string;
  choices: readonly Choice[];
  value: string;
  set: (value: string) => void;
}
export function SelectField({ id, label, hint, choices, value, set }: SelectFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} aria-describedby={hint === undefined ? undefined : `${id}-hint`} onChange={(event) => set(event.currentTarget.value)}>
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.name}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
