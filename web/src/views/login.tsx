import { useState } from 'preact/hooks';
import { login, sentenceOf, session } from '../api/client';
import { Mark } from '../ui/icons';
import { ErrorNote, ViewHead } from '../ui/parts';

export function LoginView() {
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const logins = session.value?.logins ?? [];

  const submit = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    login(token.trim()).catch((reason: unknown) => {
      setError(sentenceOf(reason));
      setBusy(false);
    });
  };
  return (
    <main class="login" id="main">
      <div class="login-card">
        <Mark />
        <ViewHead title="Log in" lead="Attune tunes neural networks for your devices." />
        {logins.map((way) => (
          <a key={way.path} class="button button-main button-wide" href={way.path}>
            Log in with {way.name}
          </a>
        ))}
        {logins.length > 0 && <p class="or">or with a token</p>}
        <form onSubmit={submit}>
          <label for="token">Token</label>
          <input
            id="token"
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            required
            placeholder="attune_…"
            aria-describedby="token-hint"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          <p id="token-hint" class="hint">
            The server prints one when it starts for the first time; <code>attune server token NAME</code> prints others.
          </p>
          <ErrorNote text={error} />
          <button class="button button-main button-wide" type="submit" disabled={isBusy}>
            {isBusy ? 'Logging in …' : 'Log in'}
          </button>
        </form>
      </div>
    </main>
  );
}
