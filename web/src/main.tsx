import { render } from 'preact';
import { createSession, readPageConfig } from './api/session.ts';
import { Page } from './page.tsx';
import { createApp } from './state/app.ts';
import { preferredLanguage, selectTexts } from './text/languages.ts';

async function start(root: HTMLElement): Promise<void> {
  const language = preferredLanguage(navigator.languages);
  try {
    const config = await readPageConfig();
    const session = createSession(config, localStorage);
    const app = createApp({ config, session, storage: localStorage, language });
    render(<Page app={app} />, root);
    await app.conversations.refresh();
  } catch (error) {
    const { problems } = selectTexts(language);
    render(
      <p class="start-problem" role="alert">
        {problems.start}: {String(error)}
      </p>,
      root,
    );
  }
}

const root = document.querySelector<HTMLElement>('#page');
if (root) void start(root);
