import {
  constraintSection,
  singleSections,
  snapshotSections,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { coarserKeys } from '../facts/values/calendar-day.ts';
import { findDates } from '../facts/values/dates.ts';
import type { FactMatch } from '../facts/index/fact-match.ts';
import { findRelativeDates } from '../facts/values/relative-dates.ts';
import type { Citation } from '#shared/grounding/citation.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { escapeXml } from '#shared/text/escape-xml.ts';
import { oneLine } from '#shared/text/one-line.ts';
import { archiveOrder } from './budget/archive-order.ts';
import { statusMark } from './items/status-mark.ts';
import { citationLines, citationMark, listedCitations } from './render-citations.ts';
import { lastSource } from './items/statement.ts';

/** The section whose items are steps. */
const STEPS = 'task_state';

/** What stands behind the step that is being worked on; Gemini CLI's words. */
const FOCUS_MARK = ' <-- CURRENT FOCUS';
const written = /\s?<--\s?CURRENT FOCUS/giu;

/** The text of a step with the mark where it `isCurrent`; one that somebody wrote into the text is left out. */
const stepText = (text: string, { isCurrent }: { isCurrent: boolean }): string =>
  `${text.replaceAll(written, '')}${isCurrent ? FOCUS_MARK : ''}`;

/**
 * The step that is being worked on: of those in progress the one that was spoken of last, of several the last in the
 * list. Undefined where none is.
 */
function currentStep({ sections }: Snapshot): Item | undefined {
  const open = (sections[STEPS] ?? []).filter(({ status }) => status === 'in_progress');
  return open.toSorted((one, other) => lastSource(one) - lastSource(other)).at(-1);
}

export interface SnapshotRoom {
  budgetTokens: number;
  counting: TokenCounting;
}

const OPEN = '<state_snapshot>';
const CLOSE = '</state_snapshot>';
const ARCHIVE_OPEN = '<archive>';
const ARCHIVE_CLOSE = '</archive>';

/** "Friday, 4 May", "tomorrow (the 21st of November)". */
const ADJOINING_CHARACTERS = 6;
/** "Friday before 2026-11-21". */
const counted = /^\s(?:before|after|of|vor|nach|avant|après|antes de|después de|prima del)\s$/iu;

const adjoin = (one: FactMatch, other: FactMatch): boolean =>
  Math.max(one.start, other.start) - Math.min(one.end, other.end) <= ADJOINING_CHARACTERS;

/** Whether a text tells the date of its "tomorrow" itself; a date of something else does not help. */
function tellsItsDay(text: string, at: string): boolean {
  const relatives = findRelativeDates(text, new Date(`${at}T00:00:00Z`));
  // Most texts count from no day: their dates need not be found.
  if (relatives.length === 0) return true;
  const dates = findDates(text);
  const told = new Set(dates.flatMap(({ readings }) => readings));
  return relatives.every(
    (relative) =>
      dates.some(
        (date) => adjoin(date, relative) || counted.test(text.slice(relative.end, date.start)),
      ) || relative.readings.some((day) => [day, ...coarserKeys(day)].some((key) => told.has(key))),
  );
}

/**
 * " (2026-11-20)" behind what counts from the day on which it was said: "I land tomorrow." What holds
 * always counts from no day.
 */
function dayMark(section: string, { text, at }: Item): string {
  if (section === constraintSection || at === undefined) return '';
  return tellsItsDay(text, at) ? '' : ` (${at})`;
}

/** What stands beside the text of an item. */
interface Marks {
  current?: Item | undefined;
  /** Sources that the snapshot lists. */
  cited?: readonly Citation[];
}

function textIn(section: string, item: Item, { current, cited = [] }: Marks = {}): string {
  const text = oneLine(item.text) + dayMark(section, item);
  const said = section === STEPS ? stepText(text, { isCurrent: item === current }) : text;
  return `${statusMark(item.status)}${escapeXml(said)}${citationMark(item, cited)}`;
}
const lineIn = (section: string, item: Item, marks?: Marks): string =>
  `- ${textIn(section, item, marks)}`;

function sectionLines(section: string, items: readonly Item[], marks: Marks): string[] {
  if (items.length === 0) return [];
  const lines = items.map((item) =>
    singleSections.has(section)
      ? textIn(section, item, { cited: marks.cited })
      : lineIn(section, item, marks),
  );
  return [`<${section}>`, ...lines, `</${section}>`];
}

/** The working layer as lines, without the tags around the whole. */
function workingLines(snapshot: Snapshot, cited: readonly Citation[] = []): string[] {
  const marks = { current: currentStep(snapshot), cited };
  return snapshotSections[snapshot.profile].flatMap((section) =>
    sectionLines(section, snapshot.sections[section] ?? [], marks),
  );
}

const joined = (lines: readonly string[]): string => [OPEN, ...lines, CLOSE].join('\n');

/** The working layer alone, whatever its size. */
export const renderWorkingLayer = (snapshot: Snapshot): string => joined(workingLines(snapshot));

/** Lines of the archive that fit, the most valuable first; those of one item are whole or absent. */
function archiveLines(items: readonly ArchivedItem[], room: SnapshotRoom): string[] {
  const tokensOf = (text: string): number => estimateTextTokens(`${text}\n`, room.counting);
  let left = room.budgetTokens - tokensOf(ARCHIVE_OPEN) - tokensOf(ARCHIVE_CLOSE);
  const fitting = items
    .map((item) => lineIn(item.section, item))
    .filter((text) => {
      const tokens = tokensOf(text);
      if (tokens > left) return false;
      left -= tokens;
      return true;
    });
  return fitting.length === 0 ? [] : [ARCHIVE_OPEN, ...fitting, ARCHIVE_CLOSE];
}

/**
 * The snapshot as `<state_snapshot>…</state_snapshot>`: an item a line, its text escaped, so that text
 * which imitates a tag, a line or the end of the block stays text; then as much of the archive as the
 * budget has left. The working layer is written whole, over the budget too (`fitSnapshot` comes first).
 * The same input gives the same bytes.
 */
export function renderLedger(snapshot: Snapshot, { budgetTokens, counting }: SnapshotRoom): string {
  const cited = listedCitations(snapshot, {
    budgetTokens: budgetTokens - estimateTextTokens(renderWorkingLayer(snapshot), counting),
    counting,
  });
  const working = [...workingLines(snapshot, cited), ...citationLines(cited)];
  const left = budgetTokens - estimateTextTokens(joined(working), counting);
  // What code put there is for search: no model chose it.
  const chosen = archiveOrder(snapshot).filter(({ by }) => by === 'model');
  const archive = archiveLines(chosen, { budgetTokens: left, counting });
  return joined([...working, ...archive]);
}
