import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { App } from '#web/state/app.ts';

/** Where Google's own page answers what the model has searched for. */
const resultsPage = (query: string): string =>
  `https://www.google.com/search?q=${encodeURIComponent(query)}`;

function Links({ title, links }: { title: string; links: readonly [url: string, text: string][] }) {
  if (links.length === 0) return null;
  return (
    <p class="turn-status sources">
      {title}{' '}
      {links.map(([url, text], at) => (
        <a key={at} href={url} target="_blank" rel="noopener noreferrer nofollow">
          {text}
        </a>
      ))}
    </p>
  );
}

/** The pages that an answer rests on, and what Google was asked for it, as links. */
export function Sources({ app, answer }: { app: App; answer: MessageView | undefined }) {
  const texts = app.texts.value.transcript;
  const { sources = [], searched } = answer ?? {};
  return (
    <>
      <Links
        title={texts.sources}
        links={sources.map(({ url, title }) => [url, title ?? new URL(url).host])}
      />
      <Links
        title={texts.searched}
        links={(searched?.queries ?? []).map((query) => [resultsPage(query), query])}
      />
    </>
  );
}
