import { checkedValuesIn } from '#shared/compaction/facts/index/unsupported.ts';
import { isHighRisk } from '#shared/compaction/ledger/verify/value-risk.ts';

/** What an inventive summariser changed in one statement. */
interface Alteration {
  from: string;
  to: string;
}

/** Dates, times and amounts are one number each, as the fake Gemini takes them. */
const number = /\d+(?:[.,:/-]\d+)*/g;

const numbersIn = (text: string): string[] => text.match(number) ?? [];

/** The numbers that differ between the two, as they read afterwards. */
export function alteredNumbers({ from, to }: Alteration): string[] {
  const before = numbersIn(from);
  return numbersIn(to).filter((each, index) => each !== before[index]);
}

/** Whether a statement says a number in a value that does harm: money, contacts, references, doses, identifiers. */
const doesHarm = ({ number: each, statement }: { number: string; statement: string }): boolean =>
  checkedValuesIn(statement).some((value) => value.text.includes(each) && isHighRisk(value));

export interface InventionScore {
  /** Altered numbers, each once. */
  altered: string[];
  /** Of them, those that nobody said. */
  foreign: string[];
  /** Of the foreign ones, those that the snapshot says where they do harm, with the statement that says it. */
  standing: { number: string; statement: string }[];
  /** Those that it says elsewhere: dates, times, counts. */
  unconfirmed: { number: string; statement: string }[];
  /** Altered statements that stand word for word in the snapshot, though nobody said them so. */
  mixedUp: string[];
  /** Those that somebody said word for word elsewhere, as one line of a table equals another. */
  saidElsewhere: string[];
}

/** Numbers of a list say nothing by themselves. */
const hasLetters = (text: string): boolean => /\p{L}/u.test(text);

/**
 * Which altered numbers came through. `conversation` is all that anybody said, `lines` the same as the
 * summariser reads it; a number there only as part of a longer one does not count as said.
 */
export function scoreInvention(input: {
  alterations: readonly Alteration[];
  statements: readonly string[];
  conversation: readonly string[];
  lines: readonly string[];
}): InventionScore {
  const { alterations, statements, conversation, lines } = input;
  const conversationNumbers = new Set(conversation.flatMap(numbersIn));
  const altered = [...new Set(alterations.flatMap(alteredNumbers))];
  const foreign = altered.filter((each) => !conversationNumbers.has(each));
  const saying = new Map(
    statements.flatMap((statement) =>
      numbersIn(statement).map((each): [string, string] => [each, statement]),
    ),
  );
  const said = foreign.flatMap((each) => {
    const statement = saying.get(each);
    return statement === undefined ? [] : [{ number: each, statement }];
  });
  const written = new Set(statements);
  const spoken = new Set(lines);
  const through = alterations
    .filter(
      (each) => written.has(each.to) && hasLetters(each.to) && alteredNumbers(each).length > 0,
    )
    .map(({ to }) => to);
  return {
    altered,
    foreign,
    standing: said.filter(doesHarm),
    unconfirmed: said.filter((each) => !doesHarm(each)),
    mixedUp: [...new Set(through.filter((text) => !spoken.has(text)))],
    saidElsewhere: [...new Set(through.filter((text) => spoken.has(text)))],
  };
}

/** Every string and number in a value, deep. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
