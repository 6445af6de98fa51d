/** Code of an operator that runs at a certain point: in process, or behind a signed webhook. */
export interface Hook<Event, Answer> {
  name: string;
  /** A required hook that fails stops what it is asked about; any other failure is logged. Default false. */
  required?: boolean;
  run(event: Event, signal: AbortSignal): Promise<Answer>;
}
