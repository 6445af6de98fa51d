/**
 * What Node is told where the functions run, as deployed (terraform/functions.tf). Within 512 MiB V8 would give what
 * lives shortly 1 MiB, and a stream took a third more of the processor: ADR 0034.
 */
export const deployedNodeOptions = '--max-semi-space-size=32';
