/** A value on the command line that cannot be used; its message names the option and the remedy. */
export class ArgumentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArgumentError';
  }
}

/** A whole number on the command line. Throws ArgumentError. */
export function wholeNumber(
  text: string | undefined,
  input: { option: string; least: number; most: number },
): number {
  const value = text !== undefined && /^\d{1,15}$/u.test(text) ? Number(text) : NaN;
  if (value >= input.least && value <= input.most) return value;
  throw new ArgumentError(
    `${input.option} takes a whole number from ${input.least} to ${input.most}, not ${JSON.stringify(text)}`,
  );
}
