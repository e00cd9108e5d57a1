import { render } from 'preact';
import { readSession, sentenceOf } from './api/client';
import { App } from './app';
import { startRouter } from './router';
import './style/tokens.css';
import './style/base.css';
import './style/frame.css';
import './style/parts.css';
import './style/charts.css';

const page = document.getElementById('page') as HTMLElement;
startRouter();
render(<App />, page);
readSession().catch((error: unknown) => {
  render(
    <main id="main">
      <h1>Attune</h1>
      <p class="note note-bad">{sentenceOf(error)}</p>
    </main>,
    page,
  );
});
