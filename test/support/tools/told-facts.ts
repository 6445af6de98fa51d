/** Figures without zeros that depend on the arguments alone: the same test data in every run. */
function digits(index: number, step: number, length: number): string {
  let state = (index + 1) * 2_654_435 + step * 40_503;
  return Array.from({ length }, () => {
    state = (state * 1_103_515 + 12_345) % 2_147_483_648;
    return (Math.floor(state / 65_536) % 9) + 1;
  }).join('');
}

const pad = (value: number): string => String(value).padStart(2, '0');

const subjects = [
  'garden',
  'kitchen',
  'harbour',
  'museum',
  'orchard',
  'library',
  'workshop',
  'theatre',
];
const subjectOf = (index: number): string =>
  `${subjects[index % subjects.length] ?? ''} ${String.fromCharCode(97 + (index % 26), 97 + (Math.floor(index / 26) % 26), 122)}`;

/** What sentences can be about; each holds figures of another kind. */
const forms: readonly ((index: number) => string)[] = [
  (index) => `The invoice for the ${subjectOf(index)} has the number INV-${digits(index, 2, 6)}.`,
  (index) =>
    `The deposit for the ${subjectOf(index)} was ${digits(index, 4, 3)}.${digits(index, 5, 2)} EUR.`,
  (index) => `There were ${digits(index, 3, 2)} chairs left over in the ${subjectOf(index)}.`,
  (index) =>
    `The opening of the ${subjectOf(index)} is on 2027-${pad((index % 12) + 1)}-${pad(((index * 5) % 28) + 1)}.`,
  (index) =>
    `The tour of the ${subjectOf(index)} starts at ${pad(10 + (index % 12))}:${pad((index * 7) % 60)}.`,
  (index) =>
    `Whoever asks about the ${subjectOf(index)} writes to desk${digits(index, 6, 3)}@example.org.`,
  (index) => `The fence around the ${subjectOf(index)} is ${digits(index, 8, 2)} metres long.`,
];

/** A sentence that tells a figure of one of several kinds. */
export const toldFact = (index: number): string =>
  (forms[index % forms.length] ?? subjectOf)(index);

/** The same sentence with its last figure altered by one digit: what an inventive summariser writes. */
export function alteredFact(sentence: string): string {
  const places = [...sentence.matchAll(/\d/g)].map(({ index }) => index);
  const at = places.at(-1) ?? 0;
  const digit = (Number(sentence[at]) + 3) % 10;
  return `${sentence.slice(0, at)}${digit}${sentence.slice(at + 1)}`;
}

/** The longest runs with figures, as a reader would look for them. */
export const figuresIn = (text: string): string[] => text.match(/[\w@.:-]*\d[\w@.:-]*\w/g) ?? [];
