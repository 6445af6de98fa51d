import { workingItems, type Item, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Citation } from '#shared/grounding/citation.ts';
import { citationsFor } from '#shared/grounding/cite-statements.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { escapeXml } from '#shared/text/escape-xml.ts';
import { oneLine } from '#shared/text/one-line.ts';

const OPEN = '<sources>';
const CLOSE = '</sources>';

/** Marks behind one item; the others stand in the list alone. */
const MARKS_MAX = 3;

/** The title, which for a search is the site, and not the address: that is long, and the app has it. */
const lineOf = ({ id, url, title = new URL(url).host }: Citation): string =>
  `- ${id}: ${escapeXml(oneLine(title))}`;

/** " [s12.1]" behind a statement that listed sources bear out. */
export function citationMark(item: Item, listed: readonly Citation[]): string {
  if (listed.length === 0) return '';
  const ids = citationsFor(item, listed).map(({ id }) => id);
  return ids.length === 0 ? '' : ` [${ids.slice(0, MARKS_MAX).join(', ')}]`;
}

/** The sources that bear out the working layer and that there is room for with their marks, the newest first. */
export function listedCitations(
  snapshot: Snapshot,
  room: { budgetTokens: number; counting: TokenCounting },
): Citation[] {
  const { citations = [] } = snapshot;
  if (citations.length === 0) return [];
  const tokensIn = (text: string): number => estimateTextTokens(text, room.counting);
  const marks = new Map<Citation, number>();
  for (const item of workingItems(snapshot))
    for (const citation of citationsFor(item, citations))
      marks.set(citation, (marks.get(citation) ?? 0) + 1);
  let left = room.budgetTokens - tokensIn(`${OPEN}\n${CLOSE}\n`);
  return citations.toReversed().filter((citation) => {
    const count = marks.get(citation) ?? 0;
    const tokens = tokensIn(`${lineOf(citation)}\n`) + count * tokensIn(` [${citation.id}]`);
    if (count === 0 || tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** The listed sources as lines, the oldest first; none where nothing is listed. */
export const citationLines = (listed: readonly Citation[]): string[] =>
  listed.length === 0 ? [] : [OPEN, ...listed.toReversed().map(lineOf), CLOSE];
