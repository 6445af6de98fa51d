/** A step that did not do what it should: what was tried, what came, and what an operator can do. */
export class SmokeFailure extends Error {
  readonly tried: string;
  readonly came: string;
  readonly remedy: string;

  constructor(failure: { tried: string; came: string; remedy: string }) {
    super(`${failure.tried}: ${failure.came}. ${failure.remedy}`);
    this.name = 'SmokeFailure';
    this.tried = failure.tried;
    this.came = failure.came;
    this.remedy = failure.remedy;
  }
}
