import { splitParagraphs } from './text-pieces.ts';

/** Text of a message: paragraphs, and code between fences. Never read as HTML. */
export const Prose = ({ text }: { text: string }) => (
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

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** A call of a tool, folded up. */
export const ToolCall = ({
  name,
  input,
  output,
}: {
  name: string;
  input?: unknown;
  output?: unknown;
}) => (
  <details class="tool-call small">
    <summary>
      <code>{name}</code>
    </summary>
    {input !== undefined && <pre tabIndex={0}>{asText(input)}</pre>}
    {output !== undefined && <pre tabIndex={0}>{asText(output)}</pre>}
  </details>
);
