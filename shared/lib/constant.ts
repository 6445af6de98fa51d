/** One number that the code uses, with what a reader of `docs/reference/constants.md` needs to judge it. */
interface Constant {
  readonly value: number;
  readonly unit: string;
  /** Where the number comes from: a document, another product, or a measurement with its size. */
  readonly origin: string;
  /** The setting that changes it; absent: it is fixed. */
  readonly configure?: string;
}

export type ConstantTable = Readonly<Record<string, Constant>>;
