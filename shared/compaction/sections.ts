import type { SectionName, timelineSection } from '#shared/conversation/documents/snapshot.ts';

interface SectionUse {
  /** What belongs there, as the summariser is told. */
  meaning: string;
  /** How late its items leave for the archive; null: they have a share of their own. */
  worth: number | null;
  /** It tells what the user wants and what is to be done: no tool speaks there, nor did one in earlier runs. */
  tellsWishes: boolean;
}

/** What each section is for. The timeline is written by code alone. */
export const sectionUses: Readonly<
  Record<Exclude<SectionName, typeof timelineSection>, SectionUse>
> = {
  overall_goal: {
    meaning: 'one item, only where there is one goal: what the user wants to reach',
    // It goes only where nothing else is left.
    worth: 9,
    tellsWishes: true,
  },
  user_profile: {
    meaning:
      'what lasts: who somebody is, people, pets, home, work, habits, tastes, health, beliefs. Where both sides are people, both belong here, by name',
    worth: 2,
    tellsWishes: true,
  },
  active_constraints: {
    meaning:
      'rules and limits that the user set for all that follows and that a later answer could break: how to answer, what never to do, what the whole work must keep to ("every page loads in 2 s"). No wish for one answer, step or part, no choice of means, plan, fact or question; one item a rule',
    worth: null,
    tellsWishes: true,
  },
  key_knowledge: {
    meaning: 'what happened or was found: events with their days, numbers, results, causes',
    worth: 1,
    tellsWishes: false,
  },
  decisions: {
    meaning: 'what was decided, and why; what was ruled out',
    worth: 2,
    tellsWishes: true,
  },
  open_questions: {
    meaning: 'what somebody still waits for, plans or has not answered',
    worth: 2,
    tellsWishes: true,
  },
  artifacts: {
    meaning: 'what was made, given or changed: texts, lists, files, bookings, and what is in them',
    worth: 1,
    tellsWishes: false,
  },
  artifact_trail: {
    meaning: 'what was made or changed, in which file or symbol, and why',
    worth: 1,
    tellsWishes: false,
  },
  file_system_state: {
    meaning: 'files and folders that were read, created, changed or deleted',
    worth: 1,
    tellsWishes: false,
  },
  recent_actions: {
    meaning: 'the latest actions and tool calls with their results, failures included',
    worth: 0,
    tellsWishes: false,
  },
  task_state: {
    meaning: 'the steps of the plan, each an item with its status, and the next step',
    worth: 2,
    tellsWishes: true,
  },
};

const usesByName = new Map<string, SectionUse>(Object.entries(sectionUses));

/** What a section is for; undefined for the timeline, and for one that this version does not know. */
export const useOf = (section: string): SectionUse | undefined => usesByName.get(section);
