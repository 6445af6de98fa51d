const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** A call of a tool, folded up. */
export function ToolCall({
  name,
  input,
  output,
}: {
  name: string;
  input?: unknown;
  output?: unknown;
}) {
  return (
    <details class="tool-call">
      <summary>
        <code>{name}</code>
      </summary>
      {input !== undefined && <pre tabIndex={0}>{asText(input)}</pre>}
      {output !== undefined && <pre tabIndex={0}>{asText(output)}</pre>}
    </details>
  );
}
