import { sectionNames, type SectionName, type SnapshotSections } from './snapshot-sections.ts';
import { closeTagAt, openTagAt, skipBlanks, decodeXml } from './xml-scan.ts';

type SnapshotBlock =
  | { ok: true; sections: Partial<SnapshotSections>; end: number }
  | { ok: false; problem: 'noSections' | 'incomplete' | 'ambiguous' };

/** Tag → section; `current_plan` is what older prompts called the task state. */
const sectionByTag: ReadonlyMap<string, SectionName> = new Map([
  ...sectionNames.map((name): [string, SectionName] => [name, name]),
  ['current_plan', 'task_state'],
]);
const tags = [...sectionByTag.keys()];

/** The five sections that every version of the prompt has asked for. */
const requiredSections: readonly SectionName[] = [
  'overall_goal',
  'key_knowledge',
  'file_system_state',
  'recent_actions',
  'task_state',
];

interface Opening {
  tag: string;
  section: SectionName;
  body: number;
}

function tagAt(text: string, position: number): Opening | undefined {
  for (const [tag, section] of sectionByTag) {
    const body = openTagAt(text, position, tag);
    if (body !== undefined) return { tag, section, body };
  }
  return undefined;
}

interface Extent {
  contentEnd: number;
  end: number;
}

/**
 * The end of a section. Tags of the same name inside it are counted, so that a quoted snapshot stays
 * text; if they never balance, the first closing tag ends the section.
 */
function sectionExtent(text: string, body: number, tag: string): Extent | undefined {
  let depth = 0;
  let first: Extent | undefined;
  for (let at = text.indexOf('<', body); at !== -1; at = text.indexOf('<', at + 1)) {
    const end = closeTagAt(text, at, tag);
    if (end !== undefined) {
      const extent = { contentEnd: at, end };
      first ??= extent;
      if (depth === 0) return extent;
      depth--;
    } else if (openTagAt(text, at, tag) !== undefined) depth++;
  }
  return first;
}

function withoutCommonIndent(text: string): string {
  const lines = text.trimEnd().split('\n');
  let indent = Infinity;
  for (const line of lines.slice(1)) {
    const width = line.length - line.trimStart().length;
    if (line.trim() !== '') indent = Math.min(indent, width);
  }
  return lines
    .map((line, index) => (index === 0 ? line.trimStart() : line.slice(indent)).trimEnd())
    .join('\n');
}

function sectionText(raw: string): string {
  const text = raw.trim();
  if (text.startsWith('<![CDATA[') && text.endsWith(']]>')) return text.slice(9, -3).trim();
  // A comment instead of content ("nothing happened yet") is no content.
  if (text.startsWith('<!--') && text.indexOf('-->') === text.length - 3) return '';
  return decodeXml(withoutCommonIndent(text));
}

/** Text and unknown elements between sections say nothing: on to the next tag. */
function skipUnknown(text: string, position: number): number {
  const next = text.indexOf('<', position + 1);
  return next === -1 ? text.length : next;
}

/** Whether a closing tag that belongs to a section stands at `position`, which lies outside of any. */
export function isStrayClose(text: string, position: number): boolean {
  return tags.some((tag) => closeTagAt(text, position, tag) !== undefined);
}

/** All sections closed but the snapshot itself not: good enough only if none is missing. */
function atEndOfText(sections: Partial<SnapshotSections>, end: number): SnapshotBlock {
  return requiredSections.every((name) => sections[name] !== undefined)
    ? { ok: true, sections, end }
    : { ok: false, problem: 'incomplete' };
}

/**
 * Reads the sections that follow an opening `<state_snapshot>` whose content begins at `body`. A
 * mention of the tag in prose has no section after it (`noSections`). A section that comes twice, or a
 * closing tag without its section, means that quoted text has imitated the format (`ambiguous`).
 */
export function parseSnapshotBlock(text: string, body: number): SnapshotBlock {
  let position = skipBlanks(text, body);
  if (tagAt(text, position) === undefined) return { ok: false, problem: 'noSections' };
  const sections: Partial<Record<SectionName, string>> = {};
  while (position < text.length) {
    const end = closeTagAt(text, position, 'state_snapshot');
    if (end !== undefined) return { ok: true, sections, end };
    if (isStrayClose(text, position)) return { ok: false, problem: 'ambiguous' };
    // A new beginning: this one was a draft that was never finished.
    if (openTagAt(text, position, 'state_snapshot') !== undefined)
      return { ok: false, problem: 'incomplete' };
    const opening = tagAt(text, position);
    if (opening === undefined) {
      position = skipBlanks(text, skipUnknown(text, position));
      continue;
    }
    const name = opening.section;
    if (sections[name] !== undefined) return { ok: false, problem: 'ambiguous' };
    const isEmptyElement = text[opening.body - 2] === '/';
    const extent = isEmptyElement
      ? { contentEnd: opening.body, end: opening.body }
      : sectionExtent(text, opening.body, opening.tag);
    if (extent === undefined) return { ok: false, problem: 'incomplete' };
    sections[name] = sectionText(text.slice(opening.body, extent.contentEnd));
    position = skipBlanks(text, extent.end);
  }
  return atEndOfText(sections, position);
}
