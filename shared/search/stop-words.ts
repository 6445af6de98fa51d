/**
 * Words that say nothing about what is looked for: a query is asked without them, if anything is left.
 * English, and of German, French and Spanish those that are no English words. Without accents.
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the and or but if then so of to in on at by for from with about into onto over as
  is are was were be been being am do does did doing done have has had having
  i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
  this that these those there here who whom whose which what when where why how
  can could would shall should might must not no nor than too very just also any some such only own same
  s t re ve ll d m don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain
  der das ein eine und oder ist sind wer wie wann warum welche welcher welches
  le les une et qui que quoi quand pourquoi el una unos quien cuando como donde cual`.split(/\s+/u),
);
