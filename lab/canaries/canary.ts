/** How the user says something, and how it is asked for. `{name}` stands for a drawn value. */
export interface Template {
  sentence: string;
  /** Said later: it replaces what the sentence says. */
  correction?: string;
  /** Does not say what it asks for. */
  question: string;
  /** All of these must be there, each in one of its wordings. */
  needs: string[][];
  /** What no longer holds. */
  outdated?: string;
}

/** A sentence of the user, and how to see whether a text still says it. */
export interface Canary {
  type: string;
  sentence: string;
  /** A later sentence that replaces it. */
  correction?: string;
  question: string;
  /** All must be there, each in one of its wordings. */
  needs: string[][];
  /** The value that the correction replaced. */
  outdated?: string;
}
