import { render } from 'preact';
import { createSession, readPageConfig } from './api/session.ts';
import { Page } from './page.tsx';
import { createApp } from './state/app.ts';

async function start(root: HTMLElement): Promise<void> {
  try {
    const config = await readPageConfig();
    const session = await createSession(config, localStorage, () => location.reload());
    const app = createApp({ config, session, storage: localStorage });
    render(<Page app={app} />, root);
  } catch (error) {
    render(
      <p class="note" role="alert">
        The page could not start: {String(error)}
      </p>,
      root,
    );
  }
}

const root = document.querySelector<HTMLElement>('#page');
if (root) void start(root);
