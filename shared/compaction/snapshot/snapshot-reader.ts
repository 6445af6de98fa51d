import { snapshotConstants } from './snapshot-constants.ts';
import { isStrayClose, parseSnapshotBlock } from './snapshot-block.ts';
import { emptySections, sectionNames, type SnapshotSections } from './snapshot-sections.ts';
import { closeTagAt, openTagAt } from './xml-scan.ts';

type SnapshotProblem =
  /** The answer is blank. */
  | 'emptyAnswer'
  /** No `<state_snapshot>` with sections. */
  | 'noSnapshot'
  /** It was cut off. */
  | 'incomplete'
  /** A section twice, or closing tags that belong to nothing: text that imitates the format. */
  | 'ambiguous'
  /** All sections are empty. */
  | 'emptySections'
  /** Longer than any snapshot may be. */
  | 'oversize';

type SnapshotReading =
  | { ok: true; snapshot: SnapshotSections; hadScratchpad: boolean }
  | { ok: false; problem: SnapshotProblem };

interface Found {
  sections: Partial<SnapshotSections>;
  start: number;
}

/** What may stand before a snapshot without being a scratchpad. */
const decoration = /^(?:\s|```[a-z]*|<\?xml[^>]{0,100}\?>)*$/;
/** What may stand around a snapshot, such as a code fence, without making it ambiguous. */
const DECORATION_CHARACTERS = 200;

interface Search {
  found?: Found;
  problem: SnapshotProblem;
  sawScratchpad: boolean;
}

/** Text after a snapshot that closes what it never opened: the snapshot was a quoted one. */
function closesNothing(text: string, position: number): boolean {
  return closeTagAt(text, position, 'state_snapshot') !== undefined || isStrayClose(text, position);
}

/** Where to go on after the tag at `position`; notes in `result` what it was. */
function readTag(text: string, position: number, result: Search): number {
  const body = openTagAt(text, position, 'state_snapshot');
  if (body === undefined) {
    if (result.found !== undefined && closesNothing(text, position)) result.problem = 'ambiguous';
    return position + 1;
  }
  const block = parseSnapshotBlock(text, body);
  if (block.ok) {
    result.found = { sections: block.sections, start: position };
    return block.end;
  }
  if (block.problem !== 'noSections') result.problem = block.problem;
  return body;
}

/** Goes over the answer once, from left to right; the last complete snapshot wins. */
function search(text: string, skipsScratchpads: boolean): Search {
  const result: Search = { problem: 'noSnapshot', sawScratchpad: false };
  let candidates = 0;
  const lastClose = text.lastIndexOf('</scratchpad>');
  let position = text.indexOf('<');
  while (position !== -1 && result.problem !== 'ambiguous') {
    const scratchpad = skipsScratchpads ? openTagAt(text, position, 'scratchpad') : undefined;
    let next: number;
    if (scratchpad === undefined) {
      if (text.startsWith('<state_snapshot', position)) candidates++;
      if (candidates > snapshotConstants.snapshotCandidateLimit.value) break;
      next = readTag(text, position, result);
    } else {
      result.sawScratchpad = true;
      // Without its end it holds whatever follows: what follows is then read as untagged.
      next = lastClose < scratchpad ? scratchpad : text.indexOf('</scratchpad>', scratchpad);
    }
    position = text.indexOf('<', next);
  }
  // Whatever stands around an imitation may be part of it: the whole answer is refused.
  if (result.problem === 'ambiguous') delete result.found;
  return result;
}

/**
 * Reads the snapshot out of a model's answer. Tolerates a scratchpad with or without tags, code fences,
 * attributes, the older section `current_plan` (→ task_state), escaped and unescaped text, and a
 * missing end tag when all sections are there. The last complete snapshot counts; one that a section
 * quotes is text. Linear, never throws.
 */
export function readSnapshot(
  text: string,
  options: { maximumCharacters?: number } = {},
): SnapshotReading {
  const maximum =
    options.maximumCharacters ?? snapshotConstants.snapshotAnswerMaximumCharacters.value;
  if (text.trim() === '') return { ok: false, problem: 'emptyAnswer' };
  if (text.length > maximum) return { ok: false, problem: 'oversize' };

  const first = search(text, true);
  const result = first.found === undefined && first.sawScratchpad ? search(text, false) : first;
  if (result.found === undefined) return { ok: false, problem: result.problem };
  const { sections, start } = result.found;
  const snapshot = { ...emptySections, ...sections };
  if (sectionNames.every((name) => snapshot[name] === ''))
    return { ok: false, problem: 'emptySections' };
  const hadScratchpad =
    first.sawScratchpad || start > DECORATION_CHARACTERS || !decoration.test(text.slice(0, start));
  return { ok: true, snapshot, hadScratchpad };
}
