const MOST_CHARACTERS = 160;

/** The first line of what an error says, cut to what fits in a table. */
export function shortReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split('\n', 1)[0]?.trim() ?? '';
  return line.length <= MOST_CHARACTERS ? line : `${line.slice(0, MOST_CHARACTERS - 1)}…`;
}
