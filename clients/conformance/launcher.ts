/** A client in a process or page of its own; its stores outlive it. */
export interface Driver {
  kill(): Promise<void>;
}

export interface Launcher {
  /** How many at a time; they wait more than they compute. */
  width: number;
  launch(control: string): Promise<Driver>;
  stop(): Promise<void>;
}
