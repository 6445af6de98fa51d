import {
  constraintSection,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { textKey } from '#shared/text/one-line.ts';
import { archiveItem, dropItem, findText, type LedgerDraft } from '../ledger-draft.ts';
import { verbatimText } from '../items/verbatim-item.ts';

type Constraint = Pick<Item, 'text' | 'quote'>;

/** How a sentence ends that is quoted without its end. */
const ends = ['', '.', '!', '。', '！'];

/** The texts that code gives an item with the words of a constraint. */
function copiedTexts({ text, quote }: Constraint): Set<string> {
  const said = [text, ...(quote === undefined ? [] : [quote])];
  return new Set([
    text,
    ...said.flatMap((words) =>
      ends.map((end) => verbatimText({ speaker: 'user', text: `${words}${end}` })),
    ),
  ]);
}

/** Items of other sections in which code put the words of a constraint. Constant time for each section. */
function copiesOf(draft: LedgerDraft, constraint: Constraint): ArchivedItem[] {
  const copies = new Map<string, ArchivedItem>();
  const texts = copiedTexts(constraint);
  for (const section of draft.sections.keys()) {
    if (section === constraintSection) continue;
    for (const text of texts) {
      const copy = findText(draft, section, text);
      if (copy?.by === 'code') copies.set(copy.id, { ...copy, section });
    }
  }
  return [...copies.values()];
}

/** Takes away what code put elsewhere in the words in which a constraint says it now. */
export function dropCopies(draft: LedgerDraft, text: string): void {
  for (const copy of copiesOf(draft, { text })) dropItem(draft, copy);
}

/**
 * Where a constraint ends, its copies must not go on saying it: they go to the archive, as what the constraint took the
 * place of. Returns the constraint that names them.
 */
export function retireCopies(draft: LedgerDraft, item: ArchivedItem): ArchivedItem {
  if (item.section !== constraintSection) return item;
  let retired = item;
  for (const copy of copiesOf(draft, item)) {
    const { supersedes } = retired;
    archiveItem(draft, supersedes === undefined ? copy : { ...copy, supersedes });
    retired = { ...retired, supersedes: copy.id };
  }
  return retired;
}

/** The sections of a snapshot without the items that code made of these sentences, constraints apart. */
export function sectionsWithoutCopies(
  { sections }: Snapshot,
  sentences: readonly { text: string }[],
): Snapshot['sections'] {
  const keys = new Set(sentences.map(({ text }) => textKey(text)));
  const isCopy = ({ by, quote }: Item): boolean =>
    by === 'code' && quote !== undefined && keys.has(textKey(quote));
  return Object.fromEntries(
    Object.entries(sections).map(([section, items]) => [
      section,
      section === constraintSection ? items : items.filter((item) => !isCopy(item)),
    ]),
  );
}
