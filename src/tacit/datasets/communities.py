"""Towns of the United States and the crime in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError

GOAL = "ViolentCrimesPerPop"

# The first columns of the file identify the town and a fold.
_TOWN_COLUMNS = ("state", "county", "community", "communityname", "fold")
_ATTRIBUTES = (
    *("population", "householdsize", "racepctblack", "racePctWhite", "racePctAsian"),
    *("racePctHisp", "agePct12t21", "agePct12t29", "agePct16t24", "agePct65up", "numbUrban"),
    *("pctUrban", "medIncome", "pctWWage", "pctWFarmSelf", "pctWInvInc", "pctWSocSec"),
    *("pctWPubAsst", "pctWRetire", "medFamInc", "perCapInc", "whitePerCap", "blackPerCap"),
    *("indianPerCap", "AsianPerCap", "OtherPerCap", "HispPerCap", "NumUnderPov", "PctPopUnderPov"),
    *("PctLess9thGrade", "PctNotHSGrad", "PctBSorMore", "PctUnemployed", "PctEmploy"),
    *("PctEmplManu", "PctEmplProfServ", "PctOccupManu", "PctOccupMgmtProf", "MalePctDivorce"),
    *("MalePctNevMarr", "FemalePctDiv", "TotalPctDiv", "PersPerFam", "PctFam2Par", "PctKids2Par"),
    *("PctYoungKids2Par", "PctTeen2Par", "PctWorkMomYoungKids", "PctWorkMom", "NumIlleg"),
    *("PctIlleg", "NumImmig", "PctImmigRecent", "PctImmigRec5", "PctImmigRec8", "PctImmigRec10"),
    *("PctRecentImmig", "PctRecImmig5", "PctRecImmig8", "PctRecImmig10", "PctSpeakEnglOnly"),
    *("PctNotSpeakEnglWell", "PctLargHouseFam", "PctLargHouseOccup", "PersPerOccupHous"),
    *("PersPerOwnOccHous", "PersPerRentOccHous", "PctPersOwnOccup", "PctPersDenseHous"),
    *("PctHousLess3BR", "MedNumBR", "HousVacant", "PctHousOccup", "PctHousOwnOcc"),
    *("PctVacantBoarded", "PctVacMore6Mos", "MedYrHousBuilt", "PctHousNoPhone", "PctWOFullPlumb"),
    *("OwnOccLowQuart", "OwnOccMedVal", "OwnOccHiQuart", "RentLowQ", "RentMedian", "RentHighQ"),
    *("MedRent", "MedRentPctHousInc", "MedOwnCostPctInc", "MedOwnCostPctIncNoMtg"),
    *("NumInShelters", "NumStreet", "PctForeignBorn", "PctBornSameState", "PctSameHouse85"),
    *("PctSameCity85", "PctSameState85", "LemasSwornFT", "LemasSwFTPerPop", "LemasSwFTFieldOps"),
    *("LemasSwFTFieldPerPop", "LemasTotalReq", "LemasTotReqPerPop", "PolicReqPerOffic"),
    *("PolicPerPop", "RacialMatchCommPol", "PctPolicWhite", "PctPolicBlack", "PctPolicHisp"),
    *("PctPolicAsian", "PctPolicMinor", "OfficAssgnDrugUnits", "NumKindsDrugsSeiz"),
    *("PolicAveOTWorked", "LandArea", "PopDens", "PctUsePubTrans", "PolicCars", "PolicOperBudg"),
    *("LemasPctPolicOnPatr", "LemasGangUnitDeploy", "LemasPctOfficDrugUn", "PolicBudgPerPop"),
)
_FILE = DataFile(
    "communities_crime/communities.data",
    f"lines of {len(_TOWN_COLUMNS)} fields that identify the town, {len(_ATTRIBUTES)} attributes and {GOAL} "
    f"with commas between them, ? for what is missing, no header",
    "the UCI repository, Communities and Crime",
)


def load_communities(n_attributes: int = len(_ATTRIBUTES)) -> dict[str, NDArray[np.float64]]:
    """Towns of the United States (UCI, Redmond and Baveja 2002): who lives there, and the crime.

    Parameters
    ----------
    n_attributes : int
        How many of the 122 attributes, from the front. Parikh's thesis takes the first 50.

    Returns
    -------
    dict
        Columns of numbers from 0 to 1, NaN where one is missing: the attributes in the order of the file, and
        last ``ViolentCrimesPerPop``, the one to predict; 1994 rows. Of the 22 attributes about the police,
        1675 rows have none, and one row lacks ``OtherPerCap``; no other cell is missing. What says which town
        it is (state, county, community, name, fold) is left out.

    Raises
    ------
    ArgumentError
        There are fewer attributes.
    MissingDataError
        The file is not in the folder that ``TACIT_DATA`` names.
    """
    if not 1 <= n_attributes <= len(_ATTRIBUTES):
        raise ArgumentError(
            f"n_attributes={n_attributes!r}; give a number from 1 to {len(_ATTRIBUTES)}"
        )
    names = [*_ATTRIBUTES[:n_attributes], GOAL]
    return {name: column for name, column in _columns().items() if name in names}


def _columns() -> dict[str, NDArray[np.float64]]:
    """Every column but those that identify the town."""
    names = (*_TOWN_COLUMNS, *_ATTRIBUTES, GOAL)
    rows = []
    for number, line in enumerate(_FILE.read().decode("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(names):
            raise _FILE.wrong(f"line {number} has {len(fields)} fields instead of {len(names)}")
        try:
            rows.append([np.nan if f == "?" else float(f) for f in fields[len(_TOWN_COLUMNS) :]])
        except ValueError as error:
            raise _FILE.wrong(f"line {number} has something else than numbers: {error}") from error
    table = np.array(rows).reshape(len(rows), len(names) - len(_TOWN_COLUMNS))
    return dict(zip(names[len(_TOWN_COLUMNS) :], np.ascontiguousarray(table.T), strict=True))
