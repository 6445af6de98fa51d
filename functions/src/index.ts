import { defineRecap } from './define-recap.ts';

/* Recap without anything of an app's own. */
export const { chat, compaction } = defineRecap();
