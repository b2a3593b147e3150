import { onChange } from "/annotate/annotate.js";

onChange((state) => {
  document.title = state.tone || "no tone yet";
});
