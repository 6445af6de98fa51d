import { splitParagraphs } from '#web/state/answer/paragraphs.ts';

/** Text of a message: paragraphs, and code between fences. Never read as HTML. */
export function Prose({ text }: { text: string }) {
  return (
    <div class="prose">
      {splitParagraphs(text).map((block, at) =>
        block.kind === 'code' ? (
          <pre key={at} tabIndex={0}>
            <code>{block.text}</code>
          </pre>
        ) : (
          <p key={at}>{block.text}</p>
        ),
      )}
    </div>
  );
}
