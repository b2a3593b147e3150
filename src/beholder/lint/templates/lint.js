(() => {
"use strict";
const form = document.querySelector(".filters");
if (!form) return;
form.hidden = false;
const groups = [...document.querySelectorAll("details")];
const show = () => {
  const wanted = [...form.elements].filter((field) => field.name && field.selectedIndex > 0);
  let shown = 0;
  for (const group of groups) {
    let own = 0;
    for (const row of group.querySelectorAll("tbody tr")) {
      row.hidden = wanted.some((field) => row.dataset[field.name] !== field.value);
      own += !row.hidden;
    }
    group.hidden = !own;
    if (wanted.length) group.open = own > 0;
    shown += own;
  }
  form.querySelector("output").value = `${shown} ${shown === 1 ? "finding" : "findings"}`;
};
form.addEventListener("change", show);
show();
})();
