/** One way to break the product, as a file of `patches/`: a head of lines `name: value`, an empty line, a diff. */
export interface Mutant {
  /** The file's name without `.patch`. */
  name: string;
  /** What is broken, as one sentence about the product. */
  breaks: string;
  kind: MutantKind;
  /** The test file that finds it, from the root of the repository; undefined while nothing does. */
  test?: string;
  /** The files that the diff changes, from the root of the repository. */
  files: readonly string[];
}

const kinds = ['guard', 'condition', 'arguments', 'await', 'bound', 'defect'] as const;
/** `defect`: one that the product once had; the others: a slip that a hand could make. */
type MutantKind = (typeof kinds)[number];

/** Reads the text of a patch. Throws Error that names the file and the line that is missing or unknown. */
export function parseMutant(name: string, text: string): Mutant {
  const [head = '', ...diff] = text.split('\n\n');
  const fields = new Map<string, string>();
  for (const line of head.split('\n')) {
    const [, field, value] = /^(breaks|kind|test): (.+)$/.exec(line) ?? [];
    if (field === undefined || value === undefined)
      throw new Error(`${name}.patch: "${line}" is no line "breaks:", "kind:" or "test:"`);
    fields.set(field, value);
  }
  const breaks = fields.get('breaks');
  if (breaks === undefined) throw new Error(`${name}.patch lacks the line "breaks:"`);
  const kind = kinds.find((each) => each === fields.get('kind'));
  if (kind === undefined) throw new Error(`${name}.patch: "kind:" is none of ${kinds.join(', ')}`);
  const files = [...diff.join('\n\n').matchAll(/^--- a\/(.+)$/gm)].map(([, file = '']) => file);
  if (files.length === 0) throw new Error(`${name}.patch changes no file`);
  const test = fields.get('test');
  return { name, breaks, kind, files, ...(test !== undefined && { test }) };
}
