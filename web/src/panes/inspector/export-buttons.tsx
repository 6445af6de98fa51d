import type { ConversationProps } from '#web/state/app.ts';
import { Button } from '../controls.tsx';

/** Hands a file to the browser. */
function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken it when the click returns; later than that nobody knows.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The whole conversation as a file. */
export function ExportButtons({ app, conversation }: ConversationProps) {
  const texts = app.texts.value.inspector;
  const save = (format: 'jsonl' | 'markdown', extension: string) => () =>
    void conversation.attempt(async () =>
      download(await conversation.api.export(format), `recap-${conversation.id}.${extension}`),
    );
  return (
    <p class="export">
      <Button class="link" text={texts.exportJson} onClick={save('jsonl', 'jsonl')} />
      <Button class="link" text={texts.exportMarkdown} onClick={save('markdown', 'md')} />
    </p>
  );
}
