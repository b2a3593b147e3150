(() => {
"use strict";
const form = document.querySelector(".filters");
if (!form) return;
form.hidden = false;
const groups = [...document.querySelectorAll("details")];
const show = () => {
  const filters = [...form.elements].filter((field) => field.name && field.selectedIndex > 0);
  let nVisible = 0;
  for (const group of groups) {
    let nInGroup = 0;
    for (const row of group.querySelectorAll("tbody tr")) {
      row.hidden = filters.some((field) => row.dataset[field.name] !== field.value);
      nInGroup += !row.hidden;
    }
    group.hidden = !nInGroup;
    if (filters.length) group.open = nInGroup > 0;
    nVisible += nInGroup;
  }
  form.querySelector("output").value = `${nVisible} ${nVisible === 1 ? "finding" : "findings"}`;
};
form.addEventListener("change", show);
show();
})();
