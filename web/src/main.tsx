import { render } from 'preact';

render(<h1>Attune</h1>, document.getElementById('page') as HTMLElement);
