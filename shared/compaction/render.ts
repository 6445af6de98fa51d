import {
  constraintSection,
  goalSection,
  lastSource,
  snapshotSections,
  statuses,
  timelineSection,
  workingItems,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { citationsFor } from '#shared/compaction/cite-statements.ts';
import type { Citation } from '#shared/models/grounding.ts';
import { escapeXml } from '#shared/text/escape-xml.ts';
import { oneLine, textKey } from '#shared/text/cut.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { snapshotBlock } from './snapshot-text.ts';

const ARCHIVE_OPEN = '<archive>';
const ARCHIVE_CLOSE = '</archive>';
const SOURCES_OPEN = '<sources>';
const SOURCES_CLOSE = '</sources>';

type Status = NonNullable<Item['status']>;

const statusMarks: Readonly<Record<Status, string>> = {
  todo: '[TODO]',
  in_progress: '[IN PROGRESS]',
  done: '[DONE]',
  tried: '[TRIED]',
};
const writtenStatus = /^\s*\[(todo|in[ _]progress|done|tried)\][\s:]*(?=\S)/iu;

/** Text without the mark of a status that a model wrote into it, and that status. */
export function splitStatus(text: string): { text: string; status?: Status } {
  const mark = writtenStatus.exec(text);
  if (mark === null) return { text };
  const name = (mark[1] ?? '').toLowerCase().replace(' ', '_');
  const status = statuses.find((each) => each === name);
  return { text: text.slice(mark[0].length), ...(status !== undefined && { status }) };
}

/** The section whose items are steps. */
const STEPS = 'task_state';

/** What stands behind the step that is being worked on; Gemini CLI's words. */
const FOCUS_MARK = ' <-- CURRENT FOCUS';
const writtenFocus = /\s?<--\s?CURRENT FOCUS/giu;

/** The text of a step with the mark where it `isCurrent`; one that somebody wrote into the text is left out. */
const stepText = (text: string, { isCurrent }: { isCurrent: boolean }): string =>
  `${text.replaceAll(writtenFocus, '')}${isCurrent ? FOCUS_MARK : ''}`;

/**
 * The step that is being worked on: of those in progress the one that was spoken of last, of several the last in the
 * list. Undefined where none is.
 */
function currentStep({ sections }: Snapshot): Item | undefined {
  const open = (sections[STEPS] ?? []).filter(({ status }) => status === 'in_progress');
  return open.toSorted((one, other) => lastSource(one) - lastSource(other)).at(-1);
}

/** What stands beside the text of an item. */
interface Marks {
  current?: Item | undefined;
  /** Sources that the snapshot lists. */
  cited?: readonly Citation[];
}

/** Marks of sources behind one item; the others stand in the list alone. */
const CITED_MAX = 3;

/** " [s12.1]" behind a statement that listed sources bear out. */
function citationMark(item: Item, listed: readonly Citation[]): string {
  if (listed.length === 0) return '';
  const ids = citationsFor(item, listed).map(({ id }) => id);
  return ids.length === 0 ? '' : ` [${ids.slice(0, CITED_MAX).join(', ')}]`;
}

/** The day behind words of the user: what "tomorrow" counts from, and which of two rules is the later. */
const saysDay = (section: string, { by, at }: Item): boolean =>
  at !== undefined && (section === constraintSection || by === 'code');

function itemText(section: string, item: Item, { current, cited = [] }: Marks = {}): string {
  const day = saysDay(section, item) ? ` (${item.at})` : '';
  const text = oneLine(item.text) + day;
  const step = section === STEPS ? stepText(text, { isCurrent: item === current }) : text;
  const status = item.status === undefined ? '' : `${statusMarks[item.status]} `;
  return `${status}${escapeXml(step)}${citationMark(item, cited)}`;
}

/** Topics in their order, a day where it changes. */
function timelineLines(items: readonly Item[]): string[] {
  let day: string | undefined;
  return items.map((item) => {
    const heading = item.at === undefined || item.at === day ? '' : `${item.at}: `;
    day = item.at ?? day;
    return `- ${heading}${escapeXml(oneLine(item.text))}`;
  });
}

function sectionLines(section: string, items: readonly Item[], marks: Marks): string[] {
  if (items.length === 0) return [];
  const lines =
    section === timelineSection
      ? timelineLines(items)
      : items.map((item) => {
          const text = itemText(section, item, marks);
          return section === goalSection ? text : `- ${text}`;
        });
  return [`<${section}>`, ...lines, `</${section}>`];
}

/** The working layer as lines, without the tags around the whole. */
function workingLines(snapshot: Snapshot, cited: readonly Citation[] = []): string[] {
  const marks = { current: currentStep(snapshot), cited };
  return snapshotSections[snapshot.profile].flatMap((section) =>
    sectionLines(section, snapshot.sections[section] ?? [], marks),
  );
}

/** The working layer alone, whatever its size. */
export const renderWorkingLayer = (snapshot: Snapshot): string =>
  snapshotBlock(workingLines(snapshot));

/** What a rendered snapshot may take. */
interface RenderRoom {
  budgetTokens: number;
  counting: TokenCounting;
}

/** The title, which for a search is the site, and not the address: that is long, and the app has it. */
const citationLine = ({ id, url, title = new URL(url).host }: Citation): string =>
  `- ${id}: ${escapeXml(oneLine(title))}`;

/** The sources that bear out the working layer and that there is room for with their marks, the newest first. */
function listedCitations(snapshot: Snapshot, room: RenderRoom): Citation[] {
  const { citations = [] } = snapshot;
  if (citations.length === 0) return [];
  const tokensIn = (text: string): number => estimateTextTokens(text, room.counting);
  const marks = new Map<Citation, number>();
  for (const item of workingItems(snapshot))
    for (const citation of citationsFor(item, citations))
      marks.set(citation, (marks.get(citation) ?? 0) + 1);
  let left = room.budgetTokens - tokensIn(`${SOURCES_OPEN}\n${SOURCES_CLOSE}\n`);
  return citations.toReversed().filter((citation) => {
    const count = marks.get(citation) ?? 0;
    const tokens = tokensIn(`${citationLine(citation)}\n`) + count * tokensIn(` [${citation.id}]`);
    if (count === 0 || tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** The listed sources as lines, the oldest first; none where nothing is listed. */
const citationLines = (listed: readonly Citation[]): string[] =>
  listed.length === 0
    ? []
    : [SOURCES_OPEN, ...listed.toReversed().map(citationLine), SOURCES_CLOSE];

/**
 * The archived items that still hold, the important first, then the newest. What was replaced is left
 * out: it is for search, and would contradict what replaced it; and what the working layer says again.
 */
function holdingArchive(snapshot: Snapshot): ArchivedItem[] {
  const working = workingItems(snapshot);
  const superseded = new Set([...working, ...snapshot.archive].map(({ supersedes }) => supersedes));
  const known = new Set(working.map(({ text }) => textKey(text)));
  return snapshot.archive
    .filter(({ id, text }) => !superseded.has(id) && !known.has(textKey(text)))
    .toSorted((a, b) => b.importance - a.importance || lastSource(b) - lastSource(a));
}

/** Lines of the archive that fit, the most valuable first; those of one item are whole or absent. */
function archiveLines(snapshot: Snapshot, room: RenderRoom): string[] {
  const tokensOf = (text: string): number => estimateTextTokens(`${text}\n`, room.counting);
  let left = room.budgetTokens - tokensOf(ARCHIVE_OPEN) - tokensOf(ARCHIVE_CLOSE);
  const lines = holdingArchive(snapshot)
    .map((item) => `- ${itemText(item.section, item)}`)
    .filter((text) => {
      const tokens = tokensOf(text);
      if (tokens > left) return false;
      left -= tokens;
      return true;
    });
  return lines.length === 0 ? [] : [ARCHIVE_OPEN, ...lines, ARCHIVE_CLOSE];
}

/**
 * The snapshot as `<state_snapshot>…</state_snapshot>`: an item a line, its text escaped, so that text
 * which imitates a tag, a line or the end of the block stays text; then as much of the archive as the
 * budget has left. The working layer is written whole, over the budget too (`fitSnapshot` comes first).
 * The same input gives the same bytes.
 */
export function renderSnapshot(snapshot: Snapshot, { budgetTokens, counting }: RenderRoom): string {
  const cited = listedCitations(snapshot, {
    budgetTokens: budgetTokens - estimateTextTokens(renderWorkingLayer(snapshot), counting),
    counting,
  });
  const working = [...workingLines(snapshot, cited), ...citationLines(cited)];
  const left = budgetTokens - estimateTextTokens(snapshotBlock(working), counting);
  return snapshotBlock([...working, ...archiveLines(snapshot, { budgetTokens: left, counting })]);
}
